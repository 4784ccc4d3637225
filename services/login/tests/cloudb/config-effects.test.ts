import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import type { ConfigPatch, ConfigSettings } from '../../src/auth-methods/cloudb/config/config-settings.ts';
import { isMissed } from '../../src/auth-methods/cloudb/rotation/rotation-schedule.ts';
import { type LoginForTest, startLoginForTest } from '../login-for-test.ts';
import { type CloudBWithTable, startCloudBWithTable } from './decision/cloudb-with-table.ts';
import { machine } from './decision/row.ts';
import { machineId, systemToken } from './decision/world.ts';

// A field that nothing uses would be accepted, stored and shown, and change nothing.

interface Effect {
  value: NonNullable<ConfigPatch[keyof ConfigPatch]>;
  /** Observes the behaviour that the field changes. */
  of: () => Promise<unknown>;
  /** Other fields without which the field would have no effect. */
  with?: ConfigPatch;
}

const daily = { client_secret: 'a', rotation_schedule: '0 3 * * *' };
const federated = { client_secret: '', identity_token_audience: 'api://a' };

/** A value of each field with which something else happens than without. */
const effects: { [Field in keyof ConfigPatch]-?: Effect } = {
  tenant_id: { value: 'other', of: login },
  resource: { value: 'https://other.example/', of: login },
  environment: { value: 'china', of: login },
  require_principal_binding: { value: true, of: login },
  client_id: { value: 'other', of: check },
  client_secret: { value: 'other', of: check },
  identity_token_audience: { value: 'api://b', of: check, with: federated },
  identity_token_ttl: { value: 7_200, of: check, with: federated },
  max_retries: { value: 1, of: check },
  retry_delay: { value: 1, of: check, with: { max_retries: 1 } },
  max_retry_delay: { value: 0, of: check, with: { max_retries: 1, retry_delay: 1 } },
  root_password_ttl: { value: 86_400, of: rotation },
  rotation_period: { value: 3_600, of: schedule, with: { client_secret: 'a' } },
  rotation_schedule: { value: '0 3 1 1 *', of: schedule, with: { client_secret: 'a' } },
  disable_automated_rotation: { value: true, of: schedule, with: daily },
  rotation_window: { value: 60, of: window, with: daily },
};

let cloudB: CloudBWithTable;
/** Its provider fails, and records what it is asked. */
let failing: LoginForTest;
let provider: Server;
let requests: { path: string; body: string; at: number }[] = [];

beforeAll(async () => {
  cloudB = await startCloudBWithTable();
  await cloudB.writeRole('place', {
    bound_subscription_ids: machine('web-1').subscription_id,
    token_ttl: 60,
  });
  provider = createServer(
    (request, response) => void record(request).then(() => response.writeHead(503).end()),
  );
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  failing = await startLoginForTest({
    authorityUrl: url,
    resourceManagerUrl: url,
    graphUrl: url,
    metadataUrl: url,
  });
  await failing.call('POST', '/sys/auth/cloudB', { type: 'cloudB' });
  await failing.call('POST', '/identity/oidc/config', { issuer: 'https://issuer.example' });
});
afterAll(async () => {
  await Promise.all([cloudB.stop(), failing.stop()]);
  provider.close();
});

async function record(request: IncomingMessage): Promise<void> {
  const [path = ''] = request.url!.split('?'); // without the random ID of the request
  requests.push({ path, at: performance.now(), body: await text(request) });
}

test.each(Object.entries(effects))('%s of a configuration has an effect', async (field, effect) => {
  const isOfProvider = ([check, schedule, window] as Effect['of'][]).includes(effect.of);
  const service = isOfProvider ? failing : cloudB.service;
  const base = isOfProvider ? usual : configured();
  const write = async (body: object) =>
    expect(await service.call('POST', '/auth/cloudB/config', body)).toMatchObject({ status: 204 });
  await service.call('DELETE', '/auth/cloudB/config');
  await write({ ...base, ...effect.with });
  const before = await effect.of();
  // What is not written is kept: of client_secret, what a rotation made of it.
  await write({ ...(effect.of !== rotation && { ...base, ...effect.with }), [field]: effect.value });
  expect(await effect.of()).not.toEqual(before);
});

const usual = {
  tenant_id: 't',
  resource: 'r',
  client_id: 'c',
  client_secret: 's',
  max_retries: 0,
  retry_delay: 0,
};

function configured() {
  const { tenantId, directory } = cloudB.sandbox;
  const { clientId, clientSecret } = directory.application;
  return {
    tenant_id: tenantId,
    resource: 'https://management.example/',
    client_id: clientId,
    client_secret: clientSecret,
  };
}

/** Returns the outcome of a login through a role that binds only a place. */
async function login() {
  const { status, body } = await cloudB.logInFrom(systemToken(machineId('web-1')), {
    role: 'place',
    ...machine('web-1'),
  });
  return { status, errors: body.errors };
}

/** When a password that is added now expires. */
async function rotation() {
  const { status, body } = await cloudB.service.call('POST', '/auth/cloudB/rotate-root', {});
  expect([status, body]).toEqual([204, undefined]);
  const { data } = (await cloudB.service.call('GET', '/auth/cloudB/config')).body;
  return data.root_password_expiration_date.slice(0, 10);
}

/** When the next automated rotation begins, in minutes. */
async function schedule() {
  const [row] = await failing.db.query<{ minutes: number | null }>(
    'select round(extract(epoch from scheduled_at) / 60)::int as minutes from login.cloudb_rotations',
  );
  return row;
}

/** Whether a rotation that was due an hour ago may still begin. */
async function window() {
  const [row] = await failing.db.query<{ settings: ConfigSettings }>(
    'select settings from login.cloudb_configs',
  );
  return isMissed(row!.settings, new Date(Date.now() - 3_600_000), new Date());
}

/** Returns what the provider is asked in a check of the configuration, with the seconds between the requests. */
async function check() {
  requests = [];
  await failing.call('POST', '/auth/cloudB/config/check', {});
  return requests.map(({ path, body, at }, index) => {
    const { client_id, client_secret, client_assertion } = Object.fromEntries(new URLSearchParams(body));
    const { aud, exp = 0, iat = 0 } = client_assertion === undefined ? {} : decodeJwt(client_assertion);
    const seconds = Math.round((at - (requests[index - 1]?.at ?? at)) / 1_000);
    return { path, client_id, client_secret, aud, lives: exp - iat, seconds };
  });
}

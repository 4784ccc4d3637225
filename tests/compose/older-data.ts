import { partialDeepStrictEqual } from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { expectEqual } from '../../scripts/demo/steps.ts';
import type { SandboxType } from '../harness/destination-types.ts';
import { eventuallyEqual } from '../harness/eventually.ts';
import { type Answer, type Api, client, expectStatus } from '../harness/http.ts';
import { type SandboxControl, sandboxControl } from '../harness/sandbox-control.ts';
import { associatedSecrets } from '../harness/sync-fixture.ts';

interface System {
  url: string;
  sandboxUrl: string;
  rootToken: string;
}

const resource = 'https://secrets.example.test';
const principal = '2d3c0f2e-3f5a-4a4b-9f65-0c1f5c8f8a01';
const timeoutMs = 60_000;

/**
 * Data that an older version creates and that a newer one must be able to use: secrets, tokens, a login, and a destination of
 * each type. The store of the last type fails when the data is written last, so the upgrade begins before it is synced.
 */
export class OlderData {
  readonly #system: System;
  readonly #root: Api;
  readonly #sandbox: SandboxControl;
  readonly #tag = randomBytes(3).toString('hex');
  readonly #mount = `older-${this.#tag}`;
  readonly #types: readonly SandboxType[];
  /** Paths of the destinations, by type. */
  readonly #destinations: ReadonlyMap<string, string>;
  readonly #tokens = new Map<string, string>();
  readonly #answers = new Map<string, unknown>();
  /** The part of the mount's accessor that is in every external name. */
  #mark = '';

  constructor(system: System, types: readonly SandboxType[]) {
    this.#system = system;
    this.#types = types;
    const pathOf = (type: string) => `sys/sync/destinations/${type}/older-${this.#tag}`;
    this.#destinations = new Map(types.map(({ type }) => [type, pathOf(type)]));
    this.#root = client(system.url, system.rootToken);
    this.#sandbox = sandboxControl(system.sandboxUrl);
  }

  async write(): Promise<void> {
    await this.#writeSecrets();
    await this.#allowLogin();
    await this.#createTokens();
    await this.#createDestinations();
    const failing = this.#types.at(-1)!.type;
    await this.#sandbox.fault({ store: failing, effect: 'server-error' });
    await this.#setPassword('before the upgrade');
    for (const { type } of this.#types)
      await this.#untilHeld(type, ['app', type === failing ? 'second' : 'before the upgrade']);
    for (const path of this.#kept()) this.#answers.set(path, await this.#read(path));
  }

  /** Throws unless all of it is still there and works. */
  async check(): Promise<void> {
    // A newer version may add fields.
    for (const path of this.#kept())
      partialDeepStrictEqual(await this.#read(path), this.#answers.get(path), path);
    await this.#checkTokens();
    await this.#checkLogin();
    await this.#sandbox.clearFaults();
    for (const type of this.#destinations.keys()) await this.#untilHeld(type, ['app', 'before the upgrade']);
    await this.#setPassword('after the upgrade');
    for (const type of this.#destinations.keys()) await this.#untilHeld(type, ['app', 'after the upgrade']);
    for (const path of this.#destinations.values()) await this.#untilSynced(path);
    const { body } = await this.#root('LIST', 'sys/sync/parked');
    const parked = Object.values<{ messages: number }>(body.data.key_info);
    expectEqual(
      parked.every(({ messages }) => messages === 0),
      true,
      'no dead letters',
    );
    await this.#removeAll();
  }

  async #writeSecrets(): Promise<void> {
    const mount = this.#mount;
    await this.#post(`sys/mounts/${mount}`, { type: 'kv', options: { version: '2' } });
    this.#mark = (await this.#read(`sys/mounts/${mount}`)).accessor.split('_').at(-1);
    for (const password of ['first', 'second']) await this.#setPassword(password);
    await this.#post(`${mount}/metadata/app/db`, { custom_metadata: { team: 'shop' }, max_versions: 20 });
    for (const value of ['1', '2']) await this.#post(`${mount}/data/other`, { data: { value } });
    await this.#post(`${mount}/delete/other`, { versions: [2] });
  }

  async #allowLogin(): Promise<void> {
    const { tenant_id } = await this.#sandbox.directory();
    const policy = `path "${this.#mount}/data/app/*" { capabilities = ["read"] }`;
    await this.#post(`sys/policies/acl/${this.#mount}`, { policy });
    await this.#post(`sys/auth/${this.#mount}`, { type: 'cloudB' });
    await this.#post(`auth/${this.#mount}/config`, { tenant_id, resource });
    const role = { policies: this.#mount, bound_service_principal_ids: [principal], token_ttl: '1h' };
    await this.#post(`auth/${this.#mount}/role/app`, role);
  }

  async #createTokens(): Promise<void> {
    for (const type of ['service', 'batch']) {
      const request = { type, policies: [this.#mount], ttl: '1h' };
      this.#tokens.set(type, (await this.#post('auth/token/create', request)).auth.client_token);
    }
    this.#tokens.set('login', expectStatus(await this.#login(), 200).body.auth.client_token);
  }

  async #createDestinations(): Promise<void> {
    for (const { type, fields } of this.#types) {
      const path = this.#destinations.get(type)!;
      await this.#post(path, { ...fields(await this.#sandbox.store(type)), granularity: 'secret-key' });
      await this.#post(`${path}/associations/set`, { mount: this.#mount, secret_name: 'app/db' });
      await this.#untilHeld(type, ['app', 'second']);
      await this.#untilSynced(path);
    }
  }

  /** Paths whose content an upgrade does not change. */
  #kept(): string[] {
    const mount = this.#mount;
    return [
      `${mount}/data/app/db`,
      `${mount}/data/app/db?version=1`,
      `${mount}/metadata/app/db`,
      `${mount}/data/other?version=1`,
      `${mount}/metadata/other`,
      `sys/mounts/${mount}`,
      `sys/policies/acl/${mount}`,
      `auth/${mount}/config`,
      `auth/${mount}/role/app`,
      ...this.#destinations.values(),
    ];
  }

  async #checkTokens(): Promise<void> {
    for (const [kind, token] of this.#tokens) {
      const api = client(this.#system.url, token);
      const { data } = expectStatus(await api('GET', `${this.#mount}/data/app/db`), 200).body.data;
      expectEqual(data.password, 'before the upgrade', `the password, read with the ${kind} token`);
      expectStatus(await api('GET', `${this.#mount}/data/other`), 403);
      expectStatus(await api('GET', 'auth/token/lookup-self'), 200);
    }
  }

  async #checkLogin(): Promise<void> {
    const { auth } = expectStatus(await this.#login(), 200).body;
    expectEqual(auth.policies, ['default', this.#mount], 'policies');
  }

  async #login(): Promise<Answer> {
    const jwt = await this.#sandbox.issueToken({ oid: principal, audience: resource });
    return client(this.#system.url, undefined)('POST', `auth/${this.#mount}/login`, { role: 'app', jwt });
  }

  async #removeAll(): Promise<void> {
    for (const path of this.#destinations.values())
      expectStatus(await this.#root('DELETE', `${path}?purge=true`), 204);
    for (const type of this.#destinations.keys()) await this.#untilHeld(type, []);
    for (const path of this.#destinations.values())
      await eventuallyEqual(async () => (await this.#root('GET', path)).status, 404, timeoutMs);
    expectStatus(await this.#root('DELETE', `sys/mounts/${this.#mount}`), 204);
  }

  #setPassword(password: string): Promise<unknown> {
    return this.#post(`${this.#mount}/data/app/db`, { data: { user: 'app', password } });
  }

  /** Resolves when a store holds these values of the secret, and no others. */
  #untilHeld(type: string, values: string[]): Promise<void> {
    const held = async () =>
      Object.entries(await this.#sandbox.contents(type))
        .filter(([name]) => name.toLowerCase().includes(this.#mark))
        .map(([, value]) => value)
        .sort();
    return eventuallyEqual(held, [...values].sort(), timeoutMs).catch((error: unknown) => {
      throw new Error(`${type}: ${(error as Error).message}`);
    });
  }

  #untilSynced(path: string): Promise<void> {
    const statuses = async () => {
      const secrets = associatedSecrets(await this.#root('GET', `${path}/associations`));
      return Object.values(secrets).map(({ sync_status }) => sync_status);
    };
    return eventuallyEqual(statuses, ['SYNCED', 'SYNCED'], timeoutMs);
  }

  async #read(path: string): Promise<Answer['body']> {
    return expectStatus(await this.#root('GET', path), 200).body.data;
  }

  async #post(path: string, body: object): Promise<Answer['body']> {
    const answer = await this.#root('POST', path, body);
    if (answer.status < 300) return answer.body;
    throw new Error(`POST ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  }
}

import { notFound, Problem } from '@secrets/domain';
import { type Endpoint, endpoint } from '@secrets/http';
import { encrypt } from '@secrets/seal';
import { z } from 'zod';
import { checkConfig } from '../cloudb/check-config.ts';
import { ConfigBody, type ConfigSettings, mergedConfig, withoutEffect } from '../cloudb/config-settings.ts';
import type { LoginApp } from '../login-app.ts';
import {
  changingMount,
  configOfMount,
  deleteConfig,
  type StoredConfig,
  saveConfig,
} from '../queries/cloudb.ts';
import { requireGrant } from '../require-grant.ts';
import { mountOfRequest } from './mount-of-request.ts';

const params = z.object({ mount: z.string() });
const path = '/auth/*mount/config';

/** `auth/<mount>/config` (spec, section 2.1). */
export const configEndpoints = (app: LoginApp): Endpoint[] => [
  readConfigEndpoint(app),
  writeConfig(app),
  patchConfig(app),
  removeConfig(app),
  check(app),
  rotateRoot(app),
];

const readConfigEndpoint = (app: LoginApp) =>
  endpoint({
    method: 'get',
    path,
    summary: "Read the login method's configuration; the secret is never part of it",
    params,
    handle: async ({ params: { mount }, caller }) => {
      const { id } = await mountOfRequest(app, caller, mount);
      return { data: (await storedConfig(app, id)).settings };
    },
  });

const writeConfig = (app: LoginApp) =>
  endpoint({
    method: 'post',
    path,
    summary: "Write the login method's configuration; fields that are left out stay as they are",
    params,
    body: ConfigBody,
    handle: async ({ params: { mount }, body, caller, warn }) => {
      const { id } = await mountOfRequest(app, caller, mount);
      const settings = await write(app, id, body, (stored) => requireGrant(caller, stored !== undefined));
      for (const sentence of withoutEffect(settings)) warn(sentence);
      return undefined;
    },
  });

const patchConfig = (app: LoginApp) =>
  endpoint({
    method: 'patch',
    path,
    summary: "Change fields of the login method's configuration",
    params,
    body: ConfigBody,
    handle: async ({ params: { mount }, body, caller, warn }) => {
      const { id } = await mountOfRequest(app, caller, mount);
      const settings = await write(app, id, body, (stored) => {
        if (stored === undefined) throw notFound();
      });
      for (const sentence of withoutEffect(settings)) warn(sentence);
      return undefined;
    },
  });

const removeConfig = (app: LoginApp) =>
  endpoint({
    method: 'delete',
    path,
    summary: "Delete the login method's configuration",
    params,
    handle: async ({ params: { mount }, caller }) => {
      const { id } = await mountOfRequest(app, caller, mount);
      await forgetTenant(app, id);
      await changingMount(app.db, id, (tx) => deleteConfig(tx, id));
      return undefined;
    },
  });

const check = (app: LoginApp) =>
  endpoint({
    method: 'post',
    path: `${path}/check`,
    summary: 'Try the configuration, step by step, without logging anybody in',
    params,
    handle: async ({ params: { mount }, caller }) => {
      const { id } = await mountOfRequest(app, caller, mount);
      return { data: await checkConfig(app, (await storedConfig(app, id)).settings) };
    },
  });

const rotateRoot = (app: LoginApp) =>
  endpoint({
    method: 'post',
    path: '/auth/*mount/rotate-root',
    summary: 'Replace client_secret; not in this version',
    params,
    handle: async ({ params: { mount }, caller }) => {
      await mountOfRequest(app, caller, mount);
      throw new Problem('unavailable', 'this version does not rotate client_secret');
    },
  });

async function storedConfig(app: LoginApp, mountId: string): Promise<StoredConfig> {
  const stored = await configOfMount(app.db, mountId);
  if (stored === undefined) throw notFound();
  return stored;
}

async function write(
  app: LoginApp,
  mountId: string,
  body: ConfigBody,
  check: (stored: StoredConfig | undefined) => void,
): Promise<ConfigSettings> {
  const [before, settings] = await changingMount(app.db, mountId, async (tx) => {
    const stored = await configOfMount(tx, mountId);
    check(stored);
    const merged = mergedConfig(stored, body);
    await saveConfig(tx, mountId, merged, sealedSecret(app, mountId, body.client_secret));
    return [stored, merged];
  });
  if (before !== undefined) app.directory.forget(before.settings);
  app.directory.forget(settings);
  return settings;
}

/** Sealed to its row; null forgets what is there, undefined keeps it. */
function sealedSecret(app: LoginApp, mountId: string, secret: string | undefined): Buffer | null | undefined {
  if (secret === undefined) return undefined;
  return secret === '' ? null : encrypt(app.keyRing, clientSecretAad(mountId), Buffer.from(secret));
}

/** The row that a mount's sealed client secret belongs to. */
export const clientSecretAad = (mountId: string): string => `login.cloudb_configs ${mountId} client_secret`;

async function forgetTenant(app: LoginApp, mountId: string): Promise<void> {
  const stored = await configOfMount(app.db, mountId);
  if (stored !== undefined) app.directory.forget(stored.settings);
}

import { notFound, Problem } from '@secrets/domain';
import { type Endpoint, endpoint } from '@secrets/http';
import { encrypt } from '@secrets/seal';
import { z } from 'zod';
import { checkConfig } from '../cloudb/check-config.ts';
import { ConfigBody, type ConfigSettings, mergedConfig, withoutEffect } from '../cloudb/config-settings.ts';
import type { Context } from '../context.ts';
import {
  changingMount,
  configOfMount,
  deleteConfig,
  type StoredConfig,
  saveConfig,
} from '../queries/cloudb.ts';
import { requireGrant } from '../require-grant.ts';
import { requireAuthMount } from './require-auth-mount.ts';

const params = z.object({ mount: z.string() });
const path = '/auth/*mount/config';

/** `auth/<mount>/config` (docs/conventions.md#31-configuration). */
export const configEndpoints = (context: Context): Endpoint[] => [
  readConfigEndpoint(context),
  writeConfig(context),
  patchConfig(context),
  removeConfig(context),
  check(context),
  rotateRoot(context),
];

const readConfigEndpoint = (context: Context) =>
  endpoint({
    method: 'get',
    path,
    summary: "Read the login method's configuration; the secret is never part of it",
    params,
    handle: async ({ params: { mount }, caller }) => {
      const { id } = await requireAuthMount(context, caller, mount);
      return { data: (await storedConfig(context, id)).settings };
    },
  });

const writeConfig = (context: Context) =>
  endpoint({
    method: 'post',
    path,
    summary: "Write the login method's configuration; fields that are left out stay as they are",
    params,
    body: ConfigBody,
    handle: async ({ params: { mount }, body, caller, warn }) => {
      const { id } = await requireAuthMount(context, caller, mount);
      const settings = await write(context, id, body, (stored) => requireGrant(caller, stored !== undefined));
      for (const sentence of withoutEffect(settings)) warn(sentence);
      return undefined;
    },
  });

const patchConfig = (context: Context) =>
  endpoint({
    method: 'patch',
    path,
    summary: "Change fields of the login method's configuration",
    params,
    body: ConfigBody,
    handle: async ({ params: { mount }, body, caller, warn }) => {
      const { id } = await requireAuthMount(context, caller, mount);
      const settings = await write(context, id, body, (stored) => {
        if (stored === undefined) throw notFound();
      });
      for (const sentence of withoutEffect(settings)) warn(sentence);
      return undefined;
    },
  });

const removeConfig = (context: Context) =>
  endpoint({
    method: 'delete',
    path,
    summary: "Delete the login method's configuration",
    params,
    handle: async ({ params: { mount }, caller }) => {
      const { id } = await requireAuthMount(context, caller, mount);
      await forgetTenant(context, id);
      await changingMount(context.db, id, (tx) => deleteConfig(tx, id));
      return undefined;
    },
  });

const check = (context: Context) =>
  endpoint({
    method: 'post',
    path: `${path}/check`,
    summary: 'Try the configuration, step by step, without logging anybody in',
    params,
    handle: async ({ params: { mount }, caller }) => {
      const { id } = await requireAuthMount(context, caller, mount);
      return { data: await checkConfig(context, (await storedConfig(context, id)).settings) };
    },
  });

const rotateRoot = (context: Context) =>
  endpoint({
    method: 'post',
    path: '/auth/*mount/rotate-root',
    summary: 'Replace client_secret; not in this version',
    params,
    handle: async ({ params: { mount }, caller }) => {
      await requireAuthMount(context, caller, mount);
      throw new Problem('unavailable', 'this version does not rotate client_secret');
    },
  });

async function storedConfig(context: Context, mountId: string): Promise<StoredConfig> {
  const stored = await configOfMount(context.db, mountId);
  if (stored === undefined) throw notFound();
  return stored;
}

async function write(
  context: Context,
  mountId: string,
  body: ConfigBody,
  check: (stored: StoredConfig | undefined) => void,
): Promise<ConfigSettings> {
  const [before, settings] = await changingMount(context.db, mountId, async (tx) => {
    const stored = await configOfMount(tx, mountId);
    check(stored);
    const merged = mergedConfig(stored, body);
    await saveConfig(tx, mountId, merged, sealedSecret(context, mountId, body.client_secret));
    return [stored, merged];
  });
  if (before !== undefined) context.directory.forget(before.settings);
  context.directory.forget(settings);
  return settings;
}

/** Sealed to its row; null forgets what is there, undefined keeps it. */
function sealedSecret(
  context: Context,
  mountId: string,
  secret: string | undefined,
): Buffer | null | undefined {
  if (secret === undefined) return undefined;
  return secret === '' ? null : encrypt(context.keyRing, clientSecretAad(mountId), Buffer.from(secret));
}

/** The row that a mount's sealed client secret belongs to. */
export const clientSecretAad = (mountId: string): string => `login.cloudb_configs ${mountId} client_secret`;

async function forgetTenant(context: Context, mountId: string): Promise<void> {
  const stored = await configOfMount(context.db, mountId);
  if (stored !== undefined) context.directory.forget(stored.settings);
}

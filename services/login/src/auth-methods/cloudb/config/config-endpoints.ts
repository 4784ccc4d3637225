import { requireGrant } from '@secrets/caller';
import { notFound, Problem } from '@secrets/domain';
import { changingMount } from '../../../queries/auth-mounts.ts';
import { type MountEndpoint, type MountRequest, mountEndpoint } from '../../auth-method.ts';
import type { CloudBContext } from '../cloudb-context.ts';
import { configOfMount, deleteConfig, type StoredConfig } from '../queries/configs.ts';
import { checkConfig } from './check-config.ts';
import { ConfigBody, ConfigPatch, ineffectiveFields } from './config-settings.ts';
import { mergeConfig } from './merge-config.ts';

const path = '/config';

/** `auth/<mount>/config` and `auth/<mount>/rotate-root` (docs/conventions.md#31-configuration). */
export const configEndpoints = (context: CloudBContext): MountEndpoint[] => [
  readConfig(context),
  writeConfig(context),
  patchConfig(context),
  removeConfig(context),
  checkConfigEndpoint(context),
  rotateRoot(),
];

const readConfig = (context: CloudBContext) =>
  mountEndpoint({
    method: 'get',
    path,
    summary: 'Read the configuration of an auth mount, without the secret',
    handle: async ({ mount }) => ({ data: (await requireConfig(context, mount.id)).settings }),
  });

const writeConfig = (context: CloudBContext) =>
  mountEndpoint({
    method: 'post',
    path,
    summary: 'Write the configuration of an auth mount; omitted fields keep their values',
    needs: 'create or update',
    body: ConfigBody,
    handle: (request) =>
      changeConfig(context, request, (stored) => requireGrant(request.caller, stored !== undefined)),
  });

const patchConfig = (context: CloudBContext) =>
  mountEndpoint({
    method: 'patch',
    path,
    summary: 'Change fields of the configuration of an auth mount; null restores a default',
    body: ConfigPatch,
    handle: (request) =>
      changeConfig(context, request, (stored) => {
        if (stored === undefined) throw notFound();
      }),
  });

const removeConfig = (context: CloudBContext) =>
  mountEndpoint({
    method: 'delete',
    path,
    summary: 'Delete the configuration of an auth mount',
    handle: async ({ mount }) => {
      const stored = await configOfMount(context.db, mount.id);
      if (stored !== undefined) context.directory.forget(stored.settings);
      await changingMount(context.db, mount.id, (tx) => deleteConfig(tx, mount.id));
      return undefined;
    },
  });

const checkConfigEndpoint = (context: CloudBContext) =>
  mountEndpoint({
    method: 'post',
    path: `${path}/check`,
    summary: 'Check the configuration step by step, without a login',
    handle: async ({ mount }) => {
      const { settings } = await requireConfig(context, mount.id);
      return { data: await checkConfig(context.directory.tenantOf(settings)) };
    },
  });

const rotateRoot = () =>
  mountEndpoint({
    method: 'post',
    path: '/rotate-root',
    summary: 'Replace client_secret; not in this version',
    handle: async () => {
      throw new Problem('unavailable', 'this version does not rotate client_secret');
    },
  });

async function requireConfig(context: CloudBContext, mountId: string): Promise<StoredConfig> {
  const stored = await configOfMount(context.db, mountId);
  if (stored === undefined) throw notFound();
  return stored;
}

async function changeConfig(
  context: CloudBContext,
  { mount, body, warn }: MountRequest<unknown, unknown, ConfigPatch>,
  check: (stored: StoredConfig | undefined) => void,
): Promise<undefined> {
  const settings = await mergeConfig(context, mount.id, body, check);
  for (const sentence of ineffectiveFields(settings)) warn(sentence);
  return undefined;
}

import { invalid, notFound } from '@secrets/domain';
import { type MethodEndpoint, methodEndpoint } from '../../auth-method.ts';
import type { CloudBContext } from '../cloudb-context.ts';
import { type ConfigRow, findConfig } from '../queries/configs.ts';
import { ConfigBody, ConfigPatch, ineffectiveFields } from './config-settings.ts';
import { removeConfig } from './remove-config.ts';
import { saveConfig } from './save-config.ts';
import { tryConfig } from './try-config.ts';

const path = '/config';

/** `auth/<mount>/config` and `auth/<mount>/rotate-root` (docs/conventions.md#31-configuration). */
export const configEndpoints = (context: CloudBContext): MethodEndpoint[] => [
  readConfig(context),
  writeConfig(context),
  patchConfig(context),
  deleteConfig(context),
  checkConfig(context),
  rotateRoot(),
];

const readConfig = (context: CloudBContext) =>
  methodEndpoint({
    method: 'get',
    path,
    summary: 'Read the configuration of an auth mount, without the secret',
    handle: async ({ mount }) => ({ data: (await requireConfig(context, mount.id)).settings }),
  });

const writeConfig = (context: CloudBContext) =>
  methodEndpoint({
    method: 'post',
    path,
    summary: 'Create or update the configuration of an auth mount; omitted fields keep their values',
    needs: 'create or update',
    body: ConfigBody,
    handle: async ({ mount, body, caller, warn }) => {
      const settings = await saveConfig(context, caller, mount.id, { body, mustExist: false });
      ineffectiveFields(settings).forEach(warn);
      return undefined;
    },
  });

const patchConfig = (context: CloudBContext) =>
  methodEndpoint({
    method: 'patch',
    path,
    summary: 'Update the configuration of an auth mount (merge patch); null restores a default',
    body: ConfigPatch,
    handle: async ({ mount, body, caller, warn }) => {
      const settings = await saveConfig(context, caller, mount.id, { body, mustExist: true });
      ineffectiveFields(settings).forEach(warn);
      return undefined;
    },
  });

const deleteConfig = (context: CloudBContext) =>
  methodEndpoint({
    method: 'delete',
    path,
    summary: 'Delete the configuration of an auth mount',
    handle: async ({ mount }) => {
      await removeConfig(context, mount.id);
      return undefined;
    },
  });

const checkConfig = (context: CloudBContext) =>
  methodEndpoint({
    method: 'post',
    path: `${path}/check`,
    summary: 'Check the configuration of an auth mount step by step, without a login',
    handle: async ({ mount }) => {
      const { settings } = await requireConfig(context, mount.id);
      return { data: await tryConfig(context.directory.tenantOf(settings)) };
    },
  });

const rotateRoot = () =>
  methodEndpoint({
    method: 'post',
    path: '/rotate-root',
    summary: 'Replace client_secret; not in this version',
    handle: async () => {
      throw invalid('this version does not rotate client_secret');
    },
  });

async function requireConfig({ db }: CloudBContext, mountId: string): Promise<ConfigRow> {
  const stored = await findConfig(db, mountId);
  if (stored === undefined) throw notFound();
  return stored;
}

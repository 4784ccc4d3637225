import type { Caller } from '@secrets/caller';
import { invalid, requireFound } from '@secrets/domain';
import type { AuthMountRow } from '../../../queries/auth-mounts.ts';
import { type MethodEndpoint, methodEndpoint } from '../../auth-method.ts';
import type { CloudBContext } from '../cloudb-context.ts';
import { CredentialsRefused } from '../provider/credentials/token-problem.ts';
import type { MountIdentity } from '../provider/mount-clients.ts';
import { findConfig } from '../queries/configs.ts';
import { findSecretExpiry } from '../queries/rotations.ts';
import { rotateNow } from '../rotation/run-rotation.ts';
import { CheckBody, scopeOf } from './check/check-body.ts';
import { checkConfig } from './check/check-config.ts';
import {
  ConfigBody,
  ConfigPatch,
  hasClientSecret,
  presentConfig,
  type StoredConfig,
} from './config-settings.ts';
import { removeConfig } from './remove-config.ts';
import { saveConfig } from './save-config.ts';

const path = '/config';

/** `auth/<mount>/config` and `auth/<mount>/rotate-root` (docs/conventions/cloudb.md#configuration). */
export const configEndpoints = (context: CloudBContext): MethodEndpoint[] => [
  readConfig(context),
  writeConfig(context),
  patchConfig(context),
  deleteConfig(context),
  checkEndpoint(context),
  rotateRoot(context),
];

const readConfig = (context: CloudBContext) =>
  methodEndpoint({
    method: 'get',
    path,
    summary: 'Read the configuration of an auth mount, without the secret',
    handle: async ({ mount, warn }) => {
      const { settings } = await requireConfig(context, mount.id);
      if (context.directory.warning !== undefined) warn(context.directory.warning);
      const expiry = await findSecretExpiry(context.db, mount.id);
      const expiration = expiry && { root_password_expiration_date: expiry.toISOString() };
      return { data: { ...presentConfig(settings), ...expiration } };
    },
  });

const writeConfig = (context: CloudBContext) =>
  methodEndpoint({
    method: 'post',
    path,
    summary: 'Create or update the configuration of an auth mount; omitted fields keep their values',
    needs: 'create or update',
    body: ConfigBody,
    handle: ({ mount, body, caller, warn }) =>
      saveConfig(context, caller, mount.id, { body, mustExist: false, warn }),
  });

const patchConfig = (context: CloudBContext) =>
  methodEndpoint({
    method: 'patch',
    path,
    summary: 'Update the configuration of an auth mount (merge patch); null restores a default',
    body: ConfigPatch,
    handle: ({ mount, body, caller, warn }) =>
      saveConfig(context, caller, mount.id, { body, mustExist: true, warn }),
  });

const deleteConfig = (context: CloudBContext) =>
  methodEndpoint({
    method: 'delete',
    path,
    summary: 'Delete the configuration of an auth mount',
    handle: ({ mount }) => removeConfig(context, mount.id),
  });

const checkEndpoint = (context: CloudBContext) =>
  methodEndpoint({
    method: 'post',
    path: `${path}/check`,
    summary: 'Check the configuration of an auth mount step by step, without a login',
    body: CheckBody,
    handle: async ({ mount, body, caller }) => {
      const { settings } = await requireConfig(context, mount.id);
      return {
        data: await checkConfig(context, {
          mount: identityOf(mount, caller),
          settings,
          scope: scopeOf(body),
        }),
      };
    },
  });

const rotateRoot = (context: CloudBContext) =>
  methodEndpoint({
    method: 'post',
    path: '/rotate-root',
    summary: 'Replace client_secret by a new password of the application',
    access: { needsSudo: true },
    handle: async ({ mount, caller, warn }) => {
      if (!hasClientSecret(await requireConfig(context, mount.id)))
        throw invalid('there is no client_secret to rotate');
      await rotateNow(context, identityOf(mount, caller), warn).catch(asInvalid);
    },
  });

/** Credentials that cannot be used are a fault of the configuration, not of the provider. */
function asInvalid(error: unknown): never {
  throw error instanceof CredentialsRefused ? invalid(error.message) : error;
}

/** A mount is always in the namespace of the request. */
const identityOf = ({ id, accessor }: AuthMountRow, { namespace }: Caller): MountIdentity => ({
  mountId: id,
  namespacePath: namespace.path,
  accessor,
});

async function requireConfig(context: CloudBContext, mountId: string): Promise<StoredConfig> {
  return requireFound(await findConfig(context, mountId));
}

import { requireFound } from '@secrets/domain';
import { believedSettings } from '../../../rows/believed-settings.ts';
import { type MethodEndpoint, methodEndpoint } from '../../auth-method.ts';
import { configKey } from '../../targets/queries/stored-target.ts';
import type { JwtContext } from '../jwt-context.ts';
import { jwtTables } from '../jwt-tables.ts';
import { findJwtConfig } from '../queries/configs.ts';
import { JwtConfigBody, jwtConfigFields, readJwtConfig } from './config-settings.ts';
import { saveJwtConfig } from './save-config.ts';

const path = '/config';

/** `auth/<mount>/config` (docs/conventions/jwt.md#configuration). */
export const configEndpoints = (context: JwtContext): MethodEndpoint[] => [
  methodEndpoint({
    method: 'get',
    path,
    summary: 'Read the configuration of an auth mount',
    handle: async ({ mount }) => {
      const stored = requireFound(await findJwtConfig(context.db, mount.id));
      const settings = believedSettings(context.rows, configKey(jwtTables.configs, mount.id), stored);
      return { data: jwtConfigFields.shown(readJwtConfig(settings)) };
    },
  }),
  methodEndpoint({
    method: 'post',
    path,
    summary: 'Replace the configuration of an auth mount',
    needs: 'create or update',
    body: JwtConfigBody,
    handle: async ({ mount, body, caller, warn }) =>
      (await saveJwtConfig(context, caller, mount.id, body)).forEach(warn),
  }),
];

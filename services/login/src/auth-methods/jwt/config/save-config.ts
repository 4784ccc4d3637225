import { type Caller, requireGrant } from '@secrets/caller';
import { invalid, Problem } from '@secrets/domain';
import { changingMount } from '../../../auth-mounts/changing-mount.ts';
import { hashOfSettings } from '../../../rows/believed-settings.ts';
import { configKey } from '../../targets/queries/stored-target.ts';
import type { JwtContext } from '../jwt-context.ts';
import { jwtTables } from '../jwt-tables.ts';
import { findJwtConfig, upsertJwtConfig } from '../queries/configs.ts';
import { sealedClientSecret } from './client-secret.ts';
import { configOf, issuerOf, type JwtConfig, type JwtConfigBody } from './config-settings.ts';

/**
 * Replaces the configuration of a mount, and drops its cached keys. Returns warnings. Throws `invalid` if it is not valid or
 * its keys cannot be fetched, and `not_found` if the mount was disabled in the meantime.
 */
export async function saveJwtConfig(
  context: JwtContext,
  caller: Caller,
  mountId: string,
  body: JwtConfigBody,
): Promise<string[]> {
  const config = configOf(body);
  const refusal = await refusalOfKeys(context, config); // before the transaction, which must not wait for the directory
  if (refusal !== undefined && body.skip_jwks_validation !== true) throw invalid(refusal);
  await changingMount(context, mountId, async (tx) => {
    requireGrant(caller, (await findJwtConfig(tx, mountId)) !== undefined);
    const rowHash = hashOfSettings(context.rows, configKey(jwtTables.configs, mountId), config);
    const sealedSecret = sealedClientSecret(context.keyRing, mountId, body.oidc_client_secret);
    await upsertJwtConfig(tx, mountId, { settings: config, rowHash, sealedSecret });
  });
  context.jwtKeys.forget(mountId);
  return [...(refusal === undefined ? [] : [refusal]), ...issuerWarnings(config)];
}

async function refusalOfKeys({ jwtKeys }: JwtContext, config: JwtConfig): Promise<string | undefined> {
  const field = config.oidc_discovery_url === '' ? 'jwks_url' : 'oidc_discovery_url';
  return jwtKeys.requireFetchable(config).then(
    () => undefined,
    (error: unknown) => {
      if (error instanceof Problem) return `${field}: ${error.message}`;
      throw error;
    },
  );
}

const issuerWarnings = (config: JwtConfig): string[] =>
  issuerOf(config) === undefined
    ? ['bound_issuer is not set: a token of any issuer is accepted if one of the keys has signed it']
    : [];

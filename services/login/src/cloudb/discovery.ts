import { Problem } from '@secrets/domain';
import { z } from 'zod';
import { fetchDocument } from './bounded-fetch.ts';
import { type Environment, issuersOf } from './environments.ts';

/** Which directory, and whose. */
export interface DirectoryTenant {
  /** Base URL of the directory, without a slash at its end. */
  authority: string;
  environment: Environment;
  tenantId: string;
}

const Discovery = z.object({ issuer: z.string().max(2_048), jwks_uri: z.url().max(2_048) });

/**
 * Reads a tenant's discovery document and gives where its keys are. They are only ever fetched from the configured
 * authority: a document that points elsewhere, or names an issuer that this tenant's tokens do not have, is a
 * problem (`bad_gateway`).
 */
export async function discoverKeys(tenant: DirectoryTenant): Promise<URL> {
  const response = await fetchDocument(
    `${tenant.authority}/${tenant.tenantId}/v2.0/.well-known/openid-configuration`,
    'the directory does not know the configured tenant_id',
  );
  const parsed = Discovery.safeParse(await response.json().catch(() => undefined));
  if (!parsed.success) throw new Problem('bad_gateway', "the directory's discovery document is not one");
  const keys = new URL(parsed.data.jwks_uri);
  if (keys.origin !== new URL(tenant.authority).origin)
    throw new Problem('bad_gateway', "the directory's discovery document names keys of another host");
  if (!issuersOf(tenant.environment, tenant.tenantId).includes(parsed.data.issuer.toLowerCase()))
    throw new Problem(
      'bad_gateway',
      "the directory's discovery document names another issuer than the tenant's",
    );
  return keys;
}

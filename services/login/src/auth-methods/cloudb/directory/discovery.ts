import { invalid, Problem, urlSegment } from '@secrets/domain';
import { z } from 'zod';
import { fetchDocument } from '../../verification/http/bounded-fetch.ts';
import { type Environment, issuersOf, tenantOfIssuer } from './environments.ts';

/** A tenant of a directory, which its ID names, or one of its domains. */
export interface DirectoryTenant {
  /** Base URL of the directory, without a trailing slash. */
  authority: string;
  environment: Environment;
  tenantId: string;
}

const Discovery = z.object({ issuer: z.string().max(2_048), jwks_uri: z.url().max(2_048) });

function tenantSegment({ tenantId }: DirectoryTenant): string {
  const segment = urlSegment(tenantId);
  if (segment === undefined) throw invalid('tenant_id: must not be empty, . or ..');
  return segment;
}

const unknownTenant = () =>
  new Problem('bad_gateway', 'the directory does not know the configured tenant_id');
const foreignIssuer = () =>
  new Problem('bad_gateway', "the directory's discovery document does not name the tenant's issuer");

/**
 * Reads a tenant's discovery document and returns the location of its keys. Throws `bad_gateway` if that is on another
 * host than the configured directory, or if the document names an issuer that is not the tenant's.
 */
export async function discoverKeys(tenant: DirectoryTenant): Promise<URL> {
  const { issuer, jwks_uri } = await discover(tenant, unknownTenant);
  const keys = new URL(jwks_uri);
  if (keys.origin !== new URL(tenant.authority).origin)
    throw new Problem('bad_gateway', "the directory's discovery document points to keys on another host");
  if (!issuersOf(tenant.environment, tenant.tenantId).includes(issuer.toLowerCase())) throw foreignIssuer();
  return keys;
}

/**
 * Returns the ID of the tenant that has a domain. Throws `invalid` if there is none, `bad_gateway` if the document does not
 * name it. https://learn.microsoft.com/entra/identity-platform/v2-protocols#endpoints
 */
export async function discoverTenantId(named: DirectoryTenant): Promise<string> {
  const { issuer } = await discover(named, () => invalid('no tenant of the directory has this domain'));
  const id = tenantOfIssuer(named.environment, issuer);
  if (id === undefined) throw foreignIssuer();
  return id;
}

async function discover(tenant: DirectoryTenant, absence: () => Problem): Promise<z.infer<typeof Discovery>> {
  const response = await fetchDocument(
    `${tenant.authority}/${tenantSegment(tenant)}/v2.0/.well-known/openid-configuration`,
    absence,
  );
  const parsed = Discovery.safeParse(await response.json().catch(() => undefined));
  if (!parsed.success) throw new Problem('bad_gateway', "the directory's discovery document is invalid");
  return parsed.data;
}

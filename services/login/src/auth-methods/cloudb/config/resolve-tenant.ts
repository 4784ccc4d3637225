import { Problem } from '@secrets/domain';
import { z } from 'zod';
import type { CloudBContext } from '../cloudb-context.ts';
import { discoverTenantId } from '../directory/discovery.ts';
import {
  type ConfigPatch,
  type ConfigRow,
  type ConfigSettings,
  mergedConfig,
  NamedTenant,
} from './config-settings.ts';

/** The tenant that a write names by a domain, and the environment in whose directory that was looked up. */
export interface ResolvedTenant extends NamedTenant {
  environment: ConfigSettings['environment'];
}

/**
 * Finds the tenant that a write names by a domain; undefined if it names none in this way. A domain that is stored keeps the
 * tenant that it had when it was first written: who may log in must not change because the domain has moved.
 *
 * Throws what `mergedConfig` and `discoverTenantId` throw, with the name of the field.
 */
export async function resolveTenant(
  { directory }: Pick<CloudBContext, 'directory'>,
  stored: ConfigRow | undefined,
  body: ConfigPatch,
): Promise<ResolvedTenant | undefined> {
  const { settings } = mergedConfig(stored, body); // what is invalid otherwise needs no look-up
  const { environment, tenant_id: domain } = settings;
  if (typeof body.tenant_id !== 'string' || !isDomain(domain)) return undefined;
  const id =
    keptTenant(stored, settings) ?? (await discoverTenantId(directory.tenantOf(settings)).catch(named));
  return { domain, id, environment };
}

/** IDs have no dots. */
const isDomain = (tenant: string): boolean => tenant.includes('.');

/** The part of a row that is compared. The other fields need not be valid: the write may replace them. */
const Kept = z.object({
  tenant_id: z.string(),
  environment: z.string().default('public'),
  given_tenant: NamedTenant,
});

function keptTenant(stored: ConfigRow | undefined, written: ConfigSettings): string | undefined {
  const { data: before } = Kept.safeParse(stored?.settings);
  const isKept =
    before?.given_tenant.domain.toLowerCase() === written.tenant_id.toLowerCase() &&
    before.given_tenant.id === before.tenant_id &&
    before.environment === written.environment;
  return isKept ? before.tenant_id : undefined;
}

function named(error: unknown): never {
  if (!(error instanceof Problem)) throw error;
  const { kind, message, retryAfterSeconds } = error;
  const retry = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  throw new Problem(kind, `tenant_id: ${message}`, { cause: error, ...retry });
}

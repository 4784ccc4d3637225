import { parsedJson } from '@secrets/domain';
import { z } from 'zod';
import type { DirectoryTenant } from './discovery.ts';
import { issuersOf } from './environments.ts';

const KeySet = z.looseObject({ keys: z.array(z.looseObject({ issuer: z.unknown().optional() })) });

/**
 * Removes the keys of other issuers from a key set: the directory publishes some that sign only for one tenant, and
 * says so in the `issuer` of the key, in which `{tenantid}` means every tenant. What is not a key set is returned
 * unchanged. https://learn.microsoft.com/entra/identity-platform/access-tokens#validate-the-signing-key-issuer
 */
export async function keysOfTenant(document: Response, tenant: DirectoryTenant): Promise<Response> {
  const text = await document.text();
  const parsed = KeySet.safeParse(parsedJson(text));
  if (!parsed.success) return new Response(text);
  const { keys, ...others } = parsed.data;
  return Response.json({ ...others, keys: keys.filter(({ issuer }) => isOfTenant(issuer, tenant)) });
}

function isOfTenant(issuer: unknown, { environment, tenantId }: DirectoryTenant): boolean {
  if (issuer === undefined) return true;
  if (typeof issuer !== 'string') return false;
  const named = issuer.toLowerCase().replace('{tenantid}', tenantId.toLowerCase());
  return issuersOf(environment, tenantId).includes(named);
}

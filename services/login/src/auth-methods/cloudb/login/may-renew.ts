import type { RowSource } from '@secrets/access';
import { z } from 'zod';
import type { RenewalDecision, StoredLogin } from '../../../tokens/renew-token.ts';
import { lifetimeRequest } from '../../roles/role-tokens.ts';
import type { ProvenPlace } from '../decision/place-bounds.ts';
import { renewalDenialReason } from '../decision/renewal.ts';
import type { DirectoryClaims } from '../directory/claims.ts';
import { environments } from '../directory/environments.ts';
import { findRenewalTarget, type ReadyTarget } from '../queries/login-target.ts';

const Place = z.object({
  subscriptionId: z.string(),
  resourceGroup: z.string(),
  machine: z.string().optional(),
  scaleSet: z.string().optional(),
  presumedScaleSet: z.string().optional(),
  resourceId: z.string().optional(),
  location: z.string().optional(),
});

/** The stored facts of a login, which a renewal checks against the current role. */
const LoginSource = z.object({
  role: z.string(),
  oid: z.string(),
  groups: z.array(z.string()),
  groupsOmitted: z.boolean(),
  /** What the login proved of claims that the role bound, by the field. */
  bound: z.record(z.string(), z.array(z.string())).optional(),
  accepted: z
    .object({ tenant_id: z.string(), resource: z.string(), environment: z.enum(environments) })
    .optional(),
  place: Place.optional(),
});

/** Returns the facts of a login to store, in JSON, with the names in the order in which they are hashed (`canonicalJson`). */
export const loginSource = (
  role: string,
  { config: { tenant_id, resource, environment } }: ReadyTarget,
  { oid, groups, groupsOmitted, bound }: DirectoryClaims,
  place: ProvenPlace | undefined,
) => ({
  accepted: { environment, resource, tenant_id },
  ...(Object.keys(bound).length === 0 ? {} : { bound }),
  groups,
  groupsOmitted,
  oid,
  ...(place === undefined ? {} : { place: presentFields(place) }),
  role: role.toLowerCase(),
});

/** Checks what a login proved against the current role and configuration (docs/conventions/cloudb.md#issued-tokens). */
export async function mayRenew(
  source: RowSource,
  { mountId, source: login, remoteAddress }: StoredLogin,
): Promise<RenewalDecision> {
  const { role: name, ...proof } = LoginSource.parse(login);
  const { role, config } = await findRenewalTarget(source, mountId, name);
  const reason = renewalDenialReason({ role, config, remoteAddress }, proof);
  if (reason !== undefined) return { allowed: false, reason };
  return { allowed: true, lifetime: role === null ? undefined : lifetimeRequest(role) };
}

/** The fields of a place that have a value. */
const presentFields = (place: ProvenPlace): Record<string, string> =>
  Object.fromEntries(
    Object.entries(place).filter((field): field is [string, string] => field[1] !== undefined),
  );

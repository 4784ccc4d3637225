import type { Sql } from '@secrets/db';
import { z } from 'zod';
import type { RenewalDecision, StoredLogin } from '../../../tokens/renew-token.ts';
import type { DirectoryClaims } from '../directory/claims.ts';
import { findRole } from '../queries/roles.ts';
import { renewalDenialReason } from '../roles/denial-reason.ts';

/** What is stored of a login, so that a renewal can check the same claims against the current role. */
const LoginSource = z.object({
  role: z.string(),
  oid: z.string(),
  groups: z.array(z.string()),
  groupsOmitted: z.boolean(),
});
export type LoginSource = z.infer<typeof LoginSource>;

export const loginSource = (role: string, { oid, groups, groupsOmitted }: DirectoryClaims): LoginSource => ({
  role: role.toLowerCase(),
  oid,
  groups,
  groupsOmitted,
});

/** Checks the claims of a login against the current role (docs/conventions.md#37-issued-tokens). */
export async function mayRenew(db: Sql, login: StoredLogin): Promise<RenewalDecision> {
  const source = LoginSource.parse(login.source);
  const reason = renewalDenialReason(await findRole(db, login.mountId, source.role), source);
  return reason === undefined ? { allowed: true } : { allowed: false, reason };
}

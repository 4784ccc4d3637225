import type { DbContext } from '../../db-context.ts';
import type { LoginIdentity } from '../../queries/tokens/login-tokens.ts';
import { findOwnerReasons } from '../../tokens/owner-reasons.ts';
import { type Check, check, reasonUnless } from '../roles/check.ts';

/** Checks that mount and role are there. */
export const targetChecks = ({ config, role }: { config: unknown; role: unknown }): Check[] => [
  check(
    'the auth mount is configured',
    'config',
    reasonUnless(config !== null, 'this auth mount is not configured'),
  ),
  check('the role exists', 'role', reasonUnless(role !== null, 'role: does not exist')),
];

/** The claims that say which entity and groups an identity has. */
interface OwnerClaims {
  principal: string;
  /** Absent if no token of the method has groups. */
  groups?: string;
}

/** Checks the stored entity and groups of an identity, which a login checks last. Changes nothing. */
export async function ownerChecks(
  context: DbContext,
  identity: Omit<LoginIdentity, 'source'>,
  claims: OwnerClaims,
): Promise<Check[]> {
  const reasons = await findOwnerReasons(context, identity);
  const { principal, groups } = claims;
  return [
    check('the entity of the principal is not disabled', principal, reasons.entity),
    ...(groups === undefined ? [] : [check('the groups of the principal are known', groups, reasons.groups)]),
    check(
      'the policies of the principal and its groups can be evaluated',
      groups === undefined ? principal : `${principal}, ${groups.split(', ')[0]}`,
      reasons.policies,
    ),
  ];
}

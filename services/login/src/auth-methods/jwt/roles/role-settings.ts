import { invalid } from '@secrets/domain';
import { bindsNothing } from '../../roles/glob.ts';
import { refuseImpossibleToken } from '../../roles/role-tokens.ts';
import { type JwtRole, type JwtRoleBody, jwtRoleFields } from './role-fields.ts';

/** The settings in the row of a role. Throws what `readStored` throws. */
export const parseJwtRole = (row: object, name: string): JwtRole => jwtRoleFields.read(row, `role ${name}`);

/**
 * A request merged into the row of a role. New `bound_claims` without `bound_claims_type` are texts, as in Vault, whatever the
 * former ones were. Throws `invalid` if the result admits whom its author did not name, or is not a valid role otherwise, and
 * what `readStored` throws for a field that the request does not replace.
 */
export function mergedJwtRole(row: object | undefined, body: JwtRoleBody): JwtRole {
  const usual = body.bound_claims === undefined ? {} : { bound_claims_type: 'string' as const };
  const role = jwtRoleFields.merged(row, { ...usual, ...body }, 'the role');
  if (role.role_type === 'oidc' && role.allowed_redirect_uris.length === 0)
    throw invalid('allowed_redirect_uris is required with role_type oidc');
  refuseUnbound(role);
  refuseMappings(role.claim_mappings);
  refuseImpossibleToken(role);
  return role;
}

/** Claims that every JWT of a directory has alike, or that say nothing about who it is for. */
const common = ['iss', 'aud', 'exp', 'nbf', 'iat', 'auth_time', 'typ'];

function refuseUnbound(role: JwtRole): void {
  const { bound_audiences, bound_subject } = role;
  if (role.role_type === 'jwt' && bound_audiences.length === 0) throw invalid('bound_audiences is required');
  if (bound_audiences.some((audience) => /^\*+$/.test(audience)))
    throw invalid('bound_audiences: * is not an audience');
  if (/^\*+$/.test(bound_subject)) throw invalid('bound_subject: * binds nothing; name a subject');
  const open = Object.keys(role.bound_claims).find((name) => isOpen(role, name));
  if (open !== undefined)
    throw invalid(`bound_claims: ${open}: a value that is * or has only separators binds nothing`);
  refuseNumbersInPatterns(role);
  if (bound_subject === '' && Object.keys(role.bound_claims).every((name) => common.includes(name)))
    throw invalid(
      `bound_subject or bound_claims is required: must have at least one bound constraint that is not ${common.join(', ')}`,
    );
}

/** In texts, only a star alone looks like a pattern that its author believed in. */
function isOpen({ bound_claims, bound_claims_type }: JwtRole, name: string): boolean {
  const isAny = bound_claims_type === 'glob' ? bindsNothing : (text: string) => /^\*+$/.test(text);
  return bound_claims[name]!.some((value) => typeof value === 'string' && isAny(value));
}

function refuseNumbersInPatterns({ bound_claims, bound_claims_type }: JwtRole): void {
  if (bound_claims_type === 'string') return;
  if (
    !Object.values(bound_claims)
      .flat()
      .every((value) => typeof value === 'string')
  )
    throw invalid('bound_claims: values must be strings with bound_claims_type glob');
}

function refuseMappings(mappings: JwtRole['claim_mappings']): void {
  const names = Object.values(mappings);
  if (names.includes('role')) throw invalid('claim_mappings: role is reserved');
  if (names.includes('')) throw invalid('claim_mappings: must name the metadata');
  if (new Set(names).size < names.length) throw invalid('claim_mappings: two claims have the same metadata');
}

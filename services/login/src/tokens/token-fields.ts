import { isAddressRange } from '@secrets/access';
import { setting } from '@secrets/domain';
import { flag, integerBetween, seconds, stringList } from '@secrets/http';

// Fields that a request for a token and a role of a login method have in common.

const octet = '(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])';
/** For the description of the API, which leaves out the shorter spellings of IPv6 addresses. */
const cidrPattern =
  `^(?:(?:${octet}\\.){3}${octet}(?:/(?:3[0-2]|[12]?[0-9]))?` +
  '|(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}(?:/(?:12[0-8]|1[01][0-9]|[1-9]?[0-9]))?)$';

/** Parsing one takes about 30 µs, for every request and login whose token or role is not cached. */
const maxCidrs = 100;

/** A list of CIDRs or single addresses, of either family. */
export const cidrList = stringList
  .refine((list) => list.length <= maxCidrs, {
    error: `must have at most ${maxCidrs} CIDRs or addresses`,
    abort: true,
  })
  .refine((list) => list.every(isAddressRange), { error: 'items must be CIDRs or addresses' })
  .meta({ type: 'array', maxItems: maxCidrs, items: { type: 'string', pattern: cidrPattern } });

export const count = integerBetween(0, 2_147_483_647, 'must not be negative');

/** Maximum size of all names together: they are in the assertion of every request and in every line of the audit. */
const maxPolicyCharacters = 4_096;
/** The rules of all policies are read and evaluated together. */
const maxPolicies = 50;

export const policyNames = stringList
  .refine((list) => list.length <= maxPolicies, {
    error: `must have at most ${maxPolicies} names`,
    abort: true,
  })
  .refine((list) => list.join(',').length <= maxPolicyCharacters, {
    error: `must have at most ${maxPolicyCharacters} characters together`,
  })
  .meta({ type: 'array', maxItems: maxPolicies, items: { type: 'string', maxLength: 80 } });

const roleTokenPolicies = policyNames.transform((list) => [
  ...new Set(list.map((name) => name.toLowerCase())),
]);

/** Fields of roles about their tokens. Requests may also send them by their older names. */
export const tokenSettings = {
  token_policies: setting(roleTokenPolicies, { default: [], otherName: 'policies' }),
  token_ttl: setting(seconds, { default: 0, otherName: 'ttl' }),
  token_max_ttl: setting(seconds, { default: 0, otherName: 'max_ttl' }),
  token_explicit_max_ttl: setting(seconds, { default: 0, otherName: 'explicit_max_ttl' }),
  token_period: setting(seconds, { default: 0, otherName: 'period' }),
  token_num_uses: setting(count, { default: 0, otherName: 'num_uses' }),
  token_bound_cidrs: setting(cidrList, { default: [], otherName: 'bound_cidrs' }),
  token_no_default_policy: setting(flag, { default: false }),
};

/** Returns other names of fields, those about tokens first: the order in which the API describes them. */
export const inUsualOrder = (names: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.keys({ ...tokenSettings, ...names }).flatMap((own) => {
      const other = names[own];
      return other === undefined ? [] : [[own, other]];
    }),
  );

/** Policy names in lower case, sorted, each once. */
export const normalisedPolicies = (policies: readonly string[]): string[] =>
  [...new Set(policies.map((policy) => policy.toLowerCase()))].sort();

/** The policies of a token: normalised, with `default` unless that is excluded. A token with `root` has no other. */
export function withDefaultPolicy(policies: readonly string[], withoutDefault: boolean): string[] {
  const all = normalisedPolicies(policies);
  if (all.includes('root')) return ['root'];
  if (withoutDefault) return all.filter((policy) => policy !== 'default');
  return normalisedPolicies(['default', ...all]);
}

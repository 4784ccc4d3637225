import { requiredSetting, setting, storedSettings, stringMap, withoutNul } from '@secrets/domain';
import { flag, integerBetween, seconds, stringList, withOtherNames } from '@secrets/http';
import { z } from 'zod';
import { inUsualOrder } from '../../../tokens/token-fields.ts';
import { roleTokenFields } from '../../roles/role-tokens.ts';
import { isRedirect } from '../oidc/redirect-uris.ts';
import { boundClaims } from './bound-claims.ts';

const maxAudiences = 100;
const maxMappings = 50;
const maxLeewaySeconds = 3_600;

const claimName = z.string().max(1_024).meta(withoutNul);

const audiences = stringList
  .refine((list) => list.length <= maxAudiences && list.every((one) => one.length <= 2_048), {
    error: `must have at most ${maxAudiences} items of at most 2,048 characters`,
  })
  .meta({
    type: 'array',
    maxItems: maxAudiences,
    items: { type: 'string', maxLength: 2_048, ...withoutNul },
  });

const redirects = stringList
  .refine((list) => list.length <= 20 && list.every(isRedirect), {
    error:
      'must be up to 20 URLs with https, or with http on localhost, 127.0.0.1 or [::1], without fragments',
  })
  .meta({ type: 'array', maxItems: 20, items: { type: 'string', maxLength: 2_048 } });

const scopes = stringList
  .refine(
    (list) => list.length <= 50 && list.every((scope) => /^[\x21\x23-\x5b\x5d-\x7e]{1,256}$/.test(scope)),
    {
      error: 'must be up to 50 scopes',
    },
  )
  .meta({ type: 'array', maxItems: 50, items: { type: 'string', pattern: '^[!#-\\[\\]-~]{1,256}$' } });

/** A word in seconds, 0 for the usual leeway, or -1 for none. */
const leeway = z
  .preprocess(
    (given) => (Number(given) === -1 ? -1 : (seconds.safeParse(given).data ?? given)),
    integerBetween(-1, maxLeewaySeconds, 'must be -1 or a duration of at most 1h'),
  )
  .meta({ type: 'integer', minimum: -1, maximum: maxLeewaySeconds });

const mappings = stringMap.refine((map) => Object.keys(map).length <= maxMappings, {
  error: `must have at most ${maxMappings} claims`,
});

/** The fields of a role (docs/conventions/jwt.md#roles). */
export const jwtRoleFields = storedSettings({
  role_type: setting(z.enum(['jwt', 'oidc'], { error: 'must be jwt or oidc' }), {
    default: 'oidc',
    help: '`jwt` for logins with a JWT, `oidc` for [sign-in with a browser](../conventions/oidc.md)',
  }),
  bound_audiences: setting(audiences, {
    default: [],
    help: 'audiences, of which `aud` must have one (required)',
  }),
  bound_subject: setting(z.string().max(1_024).meta(withoutNul), {
    default: '',
    help: 'the `sub` that may log in',
  }),
  bound_claims: setting(boundClaims, {
    default: {},
    help: 'claims, each with the values of which it must have one',
  }),
  bound_claims_type: setting(z.enum(['string', 'glob'], { error: 'must be string or glob' }), {
    default: 'string',
    help: 'whether the values are texts, or patterns in which `*` matches within one part',
  }),
  user_claim: requiredSetting(claimName.min(1, 'must not be empty')),
  user_claim_json_pointer: setting(flag, { default: false, help: 'whether `user_claim` is a JSON pointer' }),
  groups_claim: setting(claimName, { default: '', help: 'the claim with the names of groups' }),
  claim_mappings: setting(mappings, {
    default: {},
    help: 'claims that become metadata of the token, with the names of the metadata',
  }),
  expiration_leeway: setting(leeway, { default: 0, help: 'leeway of `exp`' }),
  not_before_leeway: setting(leeway, { default: 0, help: 'leeway of `nbf`' }),
  clock_skew_leeway: setting(leeway, { default: 0, help: 'leeway of all times; 0 is 60 s, -1 is none' }),
  max_age: setting(seconds, {
    default: 0,
    help: 'maximum age of the sign-in (`auth_time`), or of the JWT (`iat`) if it has none',
  }),
  allowed_redirect_uris: setting(redirects, {
    default: [],
    help: 'where the provider may send users back to (required with `oidc`)',
  }),
  oidc_scopes: setting(scopes, { default: [], help: 'scopes to ask the provider for, besides `openid`' }),
  jwt_once: setting(flag, {
    default: false,
    help: 'whether each JWT logs in once; it must have `jti` or `uti`',
    ownExtension: true,
  }),
  ...roleTokenFields,
});
export type JwtRole = ReturnType<typeof jwtRoleFields.read>;

/** The body of `auth/<mount>/role/<name>`: every field is optional, and older names of the token fields are accepted. */
export const JwtRoleBody = withOtherNames(jwtRoleFields.body, inUsualOrder(jwtRoleFields.otherNames));
export type JwtRoleBody = z.infer<typeof JwtRoleBody>;

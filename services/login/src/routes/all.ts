import type { Endpoint } from '@secrets/http';
import type { LoginCounter } from '../auth-methods/login-counter.ts';
import type { Context } from '../context.ts';
import { authMountEndpoints } from './auth-mounts.ts';
import { entityEndpoints } from './identities/entities.ts';
import { entityAliasEndpoints } from './identities/entity-aliases.ts';
import { groupAliasEndpoints } from './identities/group-aliases.ts';
import { groupEndpoints } from './identities/groups.ts';
import { identityLookUpEndpoints } from './identities/identity-lookup.ts';
import { issuerEndpoints } from './issuer.ts';
import { loginEndpoints } from './logins.ts';
import { methodEndpoints } from './method-endpoints.ts';
import { namespaceEndpoints } from './namespaces.ts';
import { capabilityEndpoints } from './policies/capabilities.ts';
import { policyEndpoints } from './policies/policies.ts';
import { resultantAclEndpoints } from './policies/resultant-acl.ts';
import { rateLimitEndpoints } from './rate-limits.ts';
import { syncTokenEndpoints } from './sync-tokens.ts';
import { tokenRoleEndpoints } from './token-roles.ts';
import { tokenEndpoints } from './tokens/tokens.ts';
import { wrappingEndpoints } from './wrapping.ts';

/** Every endpoint of this service. */
export const allEndpoints = (context: Context, loginCounter: LoginCounter): Endpoint[] => [
  ...tokenEndpoints(context),
  ...tokenRoleEndpoints(context),
  ...policyEndpoints(context),
  ...capabilityEndpoints(context),
  ...resultantAclEndpoints(context),
  ...namespaceEndpoints(context),
  ...authMountEndpoints(context),
  ...methodEndpoints(context),
  ...loginEndpoints(context, loginCounter),
  ...issuerEndpoints(context),
  ...entityEndpoints(context),
  ...entityAliasEndpoints(context),
  ...groupEndpoints(context),
  ...groupAliasEndpoints(context),
  ...rateLimitEndpoints(context),
  ...identityLookUpEndpoints(context),
  ...syncTokenEndpoints(context),
  ...wrappingEndpoints(context),
];

import type { Endpoint } from '@secrets/http';
import type { Context } from '../context.ts';
import { authMountEndpoints } from './auth-mounts.ts';
import { capabilityEndpoints } from './capabilities.ts';
import { entityEndpoints } from './entities.ts';
import { entityAliasEndpoints } from './entity-aliases.ts';
import { groupAliasEndpoints } from './group-aliases.ts';
import { groupEndpoints } from './groups.ts';
import { identityEndpoints } from './identity.ts';
import { identityLookUpEndpoints } from './identity-lookup.ts';
import { loginEndpoints } from './logins.ts';
import { methodEndpoints } from './method-endpoints.ts';
import { namespaceEndpoints } from './namespaces.ts';
import { policyEndpoints } from './policies.ts';
import { rateLimitEndpoints } from './rate-limits.ts';
import { resultantAclEndpoints } from './resultant-acl.ts';
import { syncTokenEndpoints } from './sync-tokens.ts';
import { tokenRoleEndpoints } from './token-roles.ts';
import { tokenEndpoints } from './tokens.ts';
import { wrappingEndpoints } from './wrapping.ts';

/** Every endpoint of this service. */
export const allEndpoints = (context: Context): Endpoint[] => [
  ...tokenEndpoints(context),
  ...tokenRoleEndpoints(context),
  ...policyEndpoints(context),
  ...capabilityEndpoints(context),
  ...resultantAclEndpoints(context),
  ...namespaceEndpoints(context),
  ...authMountEndpoints(context),
  ...methodEndpoints(context),
  ...loginEndpoints(context),
  ...identityEndpoints(context),
  ...entityEndpoints(context),
  ...entityAliasEndpoints(context),
  ...groupEndpoints(context),
  ...groupAliasEndpoints(context),
  ...rateLimitEndpoints(context),
  ...identityLookUpEndpoints(context),
  ...syncTokenEndpoints(context),
  ...wrappingEndpoints(context),
];

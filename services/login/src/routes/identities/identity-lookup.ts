import { type Endpoint, endpoint } from '@secrets/http';
import { z } from 'zod';
import type { Context } from '../../context.ts';
import { identityName } from '../../identities/identity-fields.ts';
import { lookUpEntity, lookUpGroup } from '../../identities/look-up.ts';
import { presentEntity } from './entities.ts';
import { presentGroup } from './groups.ts';

const uuid = z.uuid('must be a UUID');
const LookUpBody = z.object({
  id: uuid.optional(),
  name: identityName.optional(),
  alias_id: uuid.optional(),
  alias_name: identityName.optional(),
  alias_mount_accessor: z.string().optional(),
});

/**
 * `identity/lookup/…`: finds an entity or a group by any of its names (docs/conventions/access.md#entities). No match
 * is a 204.
 */
export const identityLookUpEndpoints = (context: Context): Endpoint[] => [
  endpoint({
    method: 'post',
    path: '/identity/lookup/entity',
    summary: 'Find an entity by ID, name or alias',
    body: LookUpBody,
    handle: async ({ body, caller }) => {
      const found = await lookUpEntity(context, caller, body);
      return found && { data: presentEntity(found) };
    },
  }),
  endpoint({
    method: 'post',
    path: '/identity/lookup/group',
    summary: 'Find a group by ID, name or alias',
    body: LookUpBody,
    handle: async ({ body, caller }) => {
      const found = await lookUpGroup(context, caller, body);
      return found && { data: presentGroup(found) };
    },
  }),
];

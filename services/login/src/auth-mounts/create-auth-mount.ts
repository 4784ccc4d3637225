import { randomBytes } from 'node:crypto';
import { type Caller, requireGrant } from '@secrets/caller';
import { rethrowViolation, type Tx } from '@secrets/db';
import { invalid, Problem } from '@secrets/domain';
import type { DbContext } from '../db-context.ts';
import {
  type AuthMountRow,
  findAuthMount,
  findOverlappingPath,
  insertAuthMount,
} from '../queries/auth-mounts.ts';
import { serializeWrites } from '../queries/namespaces.ts';
import { requireMountPath } from './mount-path.ts';
import { requireLimits } from './tune-auth-mount.ts';

/** The dependencies of the checks of a new auth mount. */
export interface AuthMountContext extends DbContext {
  methods: {
    readonly all: readonly { readonly type: string; readonly alternativeType?: string }[];
    /** Segments that a mount's path must not have. */
    readonly callNames: ReadonlySet<string>;
  };
}

/**
 * Enables an auth mount (docs/conventions/access.md#auth-mounts). Throws `invalid` if the path or the type is not valid;
 * `conflict` if there is an auth mount at, above or below this path, or another request was faster; and `not_found` if the
 * namespace was deleted in the meantime.
 */
export async function createAuthMount(
  { db, methods }: AuthMountContext,
  caller: Caller,
  request: Omit<AuthMountRow, 'id' | 'accessor' | 'namedType'>,
): Promise<void> {
  requireMountPath(request.path, methods.callNames);
  requireLimits(request);
  const type = typeNamed(request.type, methods.all);
  const namespaceId = caller.namespace.id;
  requireGrant(caller, (await findAuthMount(db, namespaceId, request.path)) !== undefined);
  const namedType = request.type === type ? null : request.type;
  const mount = { ...request, type, namedType, accessor: newAccessor(type) };
  await db
    .transaction((tx) => insertUnlessNested(tx, namespaceId, mount))
    .catch(rethrowViolation('another request was faster; try again'));
}

function typeNamed(given: string, methods: AuthMountContext['methods']['all']): string {
  const method = methods.find(({ type, alternativeType }) => given === type || given === alternativeType);
  if (method === undefined) throw invalid(`type: must be ${methods.map(({ type }) => type).join(' or ')}`);
  return method.type;
}

const newAccessor = (type: string): string => `auth_${type}_${randomBytes(4).toString('hex')}`;

async function insertUnlessNested(
  tx: Tx,
  namespaceId: string,
  mount: Omit<AuthMountRow, 'id'>,
): Promise<void> {
  await serializeWrites(tx, namespaceId);
  const overlapping = await findOverlappingPath(tx, namespaceId, mount.path);
  if (overlapping !== undefined) throw new Problem('conflict', `path is already in use at ${overlapping}/`);
  await insertAuthMount(tx, namespaceId, mount);
}

import type { Caller } from '@secrets/caller';
import { findDescription } from '@secrets/destinations';
import { entriesOf } from '@secrets/sync-entries';
import type { Context } from '../../context.ts';
import { requireNoPurge } from '../../destinations/background/require-no-purge.ts';
import { type DestinationRef, requireDestination } from '../../destinations/require-destination.ts';
import { findAssociationOfSecret } from '../../queries/associations/associations.ts';
import { requireReadAccess, requireSyncable } from '../require-settable.ts';
import { lookAtPlanned } from './look-at-planned.ts';
import { withNaming } from './naming.ts';
import { type PlannedSecret, plannedNames, planSecret } from './plan-secret.ts';
import { takenNames } from './taken-names.ts';

/** The secret and the destination that a set would associate. */
interface PlanRequest extends DestinationRef {
  mount: string;
  secretName: string;
  /** Whether a worker looks at what is in the store now. */
  look: boolean;
}

/** Effects of a planned set. */
export interface AssociationPlan {
  accessor: string;
  isAssociated: boolean;
  /** Whether a look was asked for. */
  isLookedAt: boolean;
  maxValueBytes: number;
  secrets: PlannedSecret[];
  /** Reasons for which the secret as a whole would make a set fail. */
  refusals: string[];
}

/**
 * Returns what a set would do, without writing anything (docs/conventions/sync-operation.md#check-and-plan). What the
 * queue and the provider would refuse is not part of it; what is in the store is, with a look. Throws as `associate` where there
 * is nothing to plan: without a destination, permission, readable secret, or during a purge.
 */
export async function planAssociation(
  context: Context,
  caller: Caller,
  request: PlanRequest,
): Promise<AssociationPlan> {
  const stored = await requireDestination(context, caller, request);
  await requireReadAccess(context, caller, request);
  const { mount, secretName, look } = request;
  const secret = await context.secrets.preview(caller, mount, secretName, look);
  requireSyncable(secret, request);
  requireNoPurge(stored);
  const { db } = context;
  const association = await findAssociationOfSecret(db, stored.id, secret.accessor, secretName);
  const destination = withNaming(stored, association?.removing === false ? association.naming : null);
  const existing = association === undefined ? [] : await entriesOf(db, [association.id]);
  const { accessor } = secret;
  const { maxValueBytes } = findDescription(destination.type);
  const named = { ...secret, mount: secret.mount_path, secretName, namespace: caller.namespace };
  const parts = { destination, secret: named, existing };
  const names = plannedNames(parts, context.prefix);
  const taken = await takenNames(db, destination.id, names.create);
  const { secrets: planned, refusals } = planSecret(parts, names, taken);
  const secrets = look ? await lookAtPlanned(context, parts, planned) : planned;
  const isAssociated = association?.removing === false;
  return { accessor, isAssociated, isLookedAt: look, maxValueBytes, secrets, refusals };
}

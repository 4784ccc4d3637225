import { findDescription, pushedKey } from '@secrets/destinations';
import { type AskedSecret, maxLookedAt, Problem, type StoreState, unknownState } from '@secrets/domain';
import type { Entry } from '@secrets/sync-entries';
import type { PreviewedSecret } from '../../changes/secrets-client.ts';
import type { Context } from '../../context.ts';
import { askStore, noCalls } from '../../destinations/calls/ask-store.ts';
import type { DestinationRow } from '../../queries/destinations/destinations.ts';
import { whyNoValue } from './wanted-entries.ts';

/** An external secret of a plan. */
interface Planned {
  subKey: string;
  externalName: string;
  change: 'new' | 'kept' | 'renamed' | 'removed';
  refusals: readonly string[];
}

type Hashed = Pick<PreviewedSecret, 'keys' | 'value_hash' | 'key_hashes'>;

/** A planned secret. */
interface LookedAt<Secret extends Planned> {
  /** Those of the destination, with the naming of the association. */
  settings: DestinationRow['settings'];
  /** With the hashes of what would be pushed. */
  secret: Hashed;
  existing: readonly Entry[];
  planned: readonly Secret[];
}

type WithState<Secret> = Secret & { inStore: StoreState | undefined };

/**
 * Has a worker look at what is under the names that a set would write, and adds it to them. What the set removes is left out. A
 * look that fails is no reason to refuse the plan.
 *
 * A comparison reveals whether a guess of the value in the store is right, so names that the set refuses are left out: another
 * secret has them, which the caller may not be able to read. A name that no secret has is compared if the store marks what it
 * holds as the destination's: a plan after `remove` with `keep`, or after a restore, must show whether a set would change it.
 * That value comes from a secret that had the name before, usually the one that is planned, which the caller may read
 * (`requireReadAccess`). A guess of another one costs a version of the planned secret and a call of the budget.
 */
export async function lookAtPlanned<Secret extends Planned>(
  context: Context,
  { destination, ...parts }: { destination: DestinationRow; secret: Hashed; existing: readonly Entry[] },
  planned: readonly Secret[],
): Promise<WithState<Secret>[]> {
  const [looked] = await lookAtEach(context, destination, [
    { ...parts, settings: destination.settings, planned },
  ]);
  return looked!;
}

/** Has a worker look at what several secrets would write, like `lookAtPlanned`. */
export async function lookAtEach<Secret extends Planned>(
  context: Context,
  destination: DestinationRow,
  each: readonly LookedAt<Secret>[],
): Promise<WithState<Secret>[][]> {
  const written = each.flatMap((one) => writtenOf(destination.type, one));
  const asked = written.flatMap(({ question }) => question ?? []).slice(0, maxLookedAt);
  const states = await statesOf(context, destination, asked);
  const answers = new Map(asked.map((question, at) => [question, states[at]]));
  const stateOf = new Map<Planned, StoreState>(
    written.map(({ one, question }) => [
      one,
      question === undefined
        ? unknownState(ofEarlierVersion)
        : (answers.get(question) ?? unknownState(onlyFirst)),
    ]),
  );
  return each.map(({ planned }) => planned.map((one) => ({ ...one, inStore: stateOf.get(one) })));
}

const ofEarlierVersion = 'the secrets service is of an earlier version';
const onlyFirst = `only the first ${maxLookedAt} external secrets are looked at`;

/** Returns what a set would write, with the questions about it: none without hashes. */
function writtenOf<Secret extends Planned>(
  type: string,
  { settings, secret, existing, planned }: LookedAt<Secret>,
): { one: Secret; question: AskedSecret | undefined }[] {
  if (whyNoValue(secret.keys, settings) !== undefined) return [];
  const { value_hash: whole, key_hashes: ofKeys = [] } = secret;
  const hashOf = new Map([...secret.keys.map((key, index) => [key, ofKeys[index]] as const), ['', whole]]);
  const { collisionKey } = findDescription(type).nameRule;
  const entryIds = new Map(existing.map((entry) => [entry.collisionKey, entry.id]));
  return planned
    .filter(({ change, refusals }) => change !== 'removed' && refusals.length === 0)
    .map((one) => {
      const { subKey, externalName: name } = one;
      const hash = hashOf.get(pushedKey(settings, subKey)) ?? whole;
      const entryId = entryIds.get(collisionKey(name)) ?? null;
      return { one, question: hash === undefined ? undefined : { name, hash, entryId } };
    });
}

/** Returns a state for each of the secrets: unknown for those for which there is no call. */
async function statesOf(
  context: Context,
  destination: DestinationRow,
  asked: readonly AskedSecret[],
): Promise<StoreState[]> {
  if (asked.length === 0) return [];
  try {
    const { states } = await askStore(context, destination, {
      calls: asked.length,
      questionFor: (calls) => ({ secrets: asked.slice(0, calls) }),
    });
    return asked.map((_, index) => states[index] ?? unknownState(noCalls));
  } catch (error) {
    if (!(error instanceof Problem) || error.kind === 'not_found') throw error;
    return asked.map(() => unknownState(error.message));
  }
}

import { currentIdentity } from '@secrets/access';
import type { Caller } from '@secrets/caller';
import type { Problem } from '@secrets/domain';
import { associateMany } from '../../../associations/batches/associate-many.ts';
import type { SetOutcome } from '../../../associations/batches/record-intents.ts';
import type { Context } from '../../../context.ts';
import type { RuleOfDestination } from '../../../queries/rules/rule-runs.ts';
import { openOwner } from '../stored-owner.ts';

/** A secret that a rule matches. */
export interface Match {
  secretId: string;
  path: string;
}

/** A match is associated, is refused for a reason that stays, or has to be tried again soon. */
export type MatchOutcome = { kind: 'associated' } | { kind: 'refused' | 'postponed'; reason: string };

/**
 * Associates at most `secretsAtOnce` matches, with the rights that the owner of their rule has. Returns the outcomes in their
 * order. Throws what is no problem.
 */
export type AssociateMatches = (matches: readonly Match[]) => Promise<MatchOutcome[]>;

/** The owner of a rule has no rights any more; why. */
export class OwnerGone extends Error {}

/** Problems that nothing but another write of the rule or of the secret ends. */
const lasting: ReadonlySet<Problem['kind']> = new Set([
  'invalid',
  'forbidden',
  'not_found',
  'conflict',
  'too_large',
]);

/**
 * Returns a function that associates matches of a rule with its destination, for its owner: each must be permitted to read the
 * secret, and to set this association. Whether the owner exists is decided now.
 * @throws OwnerGone if the entity or the token of the owner has ended
 * @throws SealError if somebody else has changed the rule
 */
export async function matchAssociator(
  context: Context,
  rule: RuleOfDestination,
  requestId: string,
): Promise<AssociateMatches> {
  const owner = await currentIdentity(context.db, openOwner(context.keyRing, rule).identity, requestId);
  if ('reason' in owner) throw new OwnerGone(`the rule associates nothing new: ${owner.reason}`);
  const { type, destinationName: name, mount } = rule;
  const request = { type, name, mount, overwrite: false, heldBy: rule };
  return async (matches) => {
    if (rule.isClosed) return matches.map(() => closed);
    const permitted = await permittedMatches(context, owner.caller, rule, matches);
    const paths = matches.map(({ path }) => path).filter((_, at) => permitted[at]);
    const outcomes = (await associateMany(context, owner.caller, request, paths)).values();
    return permitted.map((isPermitted) => (isPermitted ? outcomeOf(outcomes.next().value!) : notPermitted));
  };
}

const closed: MatchOutcome = { kind: 'postponed', reason: 'the destination is being deleted' };
const notPermitted: MatchOutcome = {
  kind: 'refused',
  reason: 'the owner of the rule may not set this association',
};

function outcomeOf(outcome: SetOutcome): MatchOutcome {
  if ('id' in outcome) return { kind: 'associated' };
  const { problem } = outcome;
  return { kind: lasting.has(problem.kind) ? 'refused' : 'postponed', reason: ofOwner(problem) };
}

/** The sentence about the caller's token, as one about the owner. */
const ofOwner = ({ message }: Problem): string =>
  message.replace(
    'permission denied: your token may not',
    'permission denied: the owner of the rule may not',
  );

/** Whether the policies of the owner permit a set of each association. */
function permittedMatches(
  { policies }: Context,
  owner: Caller,
  { type, destinationName, mount }: RuleOfDestination,
  matches: readonly Match[],
): Promise<boolean[]> {
  const path = `sys/sync/destinations/${type}/${destinationName}/associations/set`;
  const requests = matches.map(({ path: secret_name }) => {
    const body = { mount, secret_name };
    return { path, capability: 'update' as const, body };
  });
  return policies.mayDoEach(owner, requests);
}

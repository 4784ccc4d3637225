import { currentIdentity } from '@secrets/access';
import type { Caller } from '@secrets/caller';
import { Problem } from '@secrets/domain';
import { associate } from '../../../associations/associate.ts';
import type { Context } from '../../../context.ts';
import type { RuleOfDestination } from '../../../queries/rules/rule-runs.ts';
import { openOwner } from '../stored-owner.ts';

/** A secret that a rule matches. */
export interface Match {
  secretId: string;
  path: string;
}

/** A match is associated, is refused for a reason that stays, or has to be tried again soon. */
type MatchOutcome = { kind: 'associated' } | { kind: 'refused' | 'postponed'; reason: string };

/** Associates a match, with the rights that the owner of its rule had when this was made. Throws what is no problem. */
export type AssociateMatch = (match: Match) => Promise<MatchOutcome>;

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
 * secret, and to set this association.
 * @throws OwnerGone if the entity or the token of the owner has ended
 * @throws SealError if somebody else has changed the rule
 */
export async function matchAssociator(
  context: Context,
  rule: RuleOfDestination,
  matches: readonly Match[],
  requestId: string,
): Promise<AssociateMatch> {
  const owner = await currentIdentity(context.db, openOwner(context.keyRing, rule).identity, requestId);
  if ('reason' in owner) throw new OwnerGone(`the rule associates nothing new: ${owner.reason}`);
  const permitted = await permittedMatches(context, owner.caller, rule, matches);
  const { type, destinationName: name, mount } = rule;
  return async ({ path, secretId }) => {
    if (rule.isClosed) return { kind: 'postponed', reason: 'the destination is being deleted' };
    if (!permitted.has(secretId))
      return { kind: 'refused', reason: 'the owner of the rule may not set this association' };
    const request = { type, name, mount, secretName: path, overwrite: false, heldBy: rule };
    try {
      await associate(context, owner.caller, request, 0);
      return { kind: 'associated' };
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return { kind: lasting.has(error.kind) ? 'refused' : 'postponed', reason: ofOwner(error) };
    }
  };
}

/** The sentence about the caller's token, as one about the owner. */
const ofOwner = ({ message }: Problem): string =>
  message.replace(
    'permission denied: your token may not',
    'permission denied: the owner of the rule may not',
  );

/** The secrets for which the policies of the owner permit a set of the association. */
async function permittedMatches(
  { policies }: Context,
  owner: Caller,
  { type, destinationName, mount }: RuleOfDestination,
  matches: readonly Match[],
): Promise<ReadonlySet<string>> {
  const path = `sys/sync/destinations/${type}/${destinationName}/associations/set`;
  const requests = matches.map(({ path: secret_name }) => {
    const body = { mount, secret_name };
    return { path, capability: 'update' as const, body };
  });
  const permitted = await policies.mayDoEach(owner, requests);
  return new Set(matches.filter((_, at) => permitted[at]).map(({ secretId }) => secretId));
}

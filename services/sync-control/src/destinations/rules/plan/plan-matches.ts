import { currentIdentity } from '@secrets/access';
import type { Caller } from '@secrets/caller';
import { findDescription } from '@secrets/destinations';
import { type Entry, entriesOf } from '@secrets/sync-entries';
import { lookAtEach } from '../../../associations/planning/look-at-planned.ts';
import { whyOtherNaming, withNaming } from '../../../associations/planning/naming.ts';
import {
  type PlannedSecret,
  plannedNames,
  planSecret,
  type SecretNames,
  sized,
} from '../../../associations/planning/plan-secret.ts';
import { takenNames } from '../../../associations/planning/taken-names.ts';
import { whyNotSyncable } from '../../../associations/require-settable.ts';
import type { PreviewedById } from '../../../changes/secrets-client.ts';
import type { Context } from '../../../context.ts';
import { listAssociationsOfMatches } from '../../../queries/rules/rule-plans.ts';
import type { Match } from '../background/associate-matches.ts';
import type { RuleToPlan } from './rule-to-plan.ts';

/** A secret that a rule matches, and what the rule does with it. */
export interface PlannedMatch {
  secretName: string;
  /** `associated`: it has no association yet; `held`: the rule holds the one that it has; `kept`: it does already. */
  change: 'associated' | 'held' | 'kept';
  /** Reasons for which the secret would be refused. */
  problems: string[];
  secrets: PlannedSecret[];
}

interface Page {
  mount: { path: string; accessor: string };
  matches: readonly Match[];
  look: boolean;
}

/**
 * Plans the matches of a page. Names are compared with each other, too: the second one of a page that wants a name is refused.
 * Sizes, and what a look finds, are left out for secrets that the caller may not read.
 */
export async function planMatches(
  context: Context,
  caller: Caller,
  rule: RuleToPlan,
  page: Page,
): Promise<PlannedMatch[]> {
  const found = await find(context, caller, rule, page);
  const named = found.map((one) => ({ ...one, names: newNames(one, context.prefix) }));
  const create = named.flatMap(({ names }) => names?.create ?? []);
  const taken = new Map(await takenNames(context.db, rule.destination.id, create));
  const planned = named.map((one) => {
    const match = planOne(one, taken);
    for (const { collisionKey, externalName } of one.names?.create ?? [])
      if (!taken.has(collisionKey)) taken.set(collisionKey, alsoOf(externalName, one.match));
    return match;
  });
  return page.look ? look(context, rule, found, planned) : planned;
}

const alsoOf = (externalName: string, { path }: Match): string =>
  `the external name ${externalName} is also that of ${path}, which the rule matches, too`;

/** A match with what its plan depends on. */
interface Found {
  match: Match;
  /** Undefined if its state is unknown. */
  secret: PreviewedSecret | undefined;
  /** With the naming of the association, or of the rule if there is none. */
  destination: RuleToPlan['destination'];
  /** An association that has no need to be set; the entries are also those of one that ends. */
  association: { id: string; isHeld: boolean } | undefined;
  existing: Entry[];
  isVisible: boolean;
  /** Why its owner may not associate it. */
  refusal: string | undefined;
}

type PreviewedSecret = PreviewedById & Parameters<typeof plannedNames>[0]['secret'];

async function find(
  context: Context,
  caller: Caller,
  rule: RuleToPlan,
  { mount, matches, look: hashes }: Page,
): Promise<Found[]> {
  const { db, secrets, policies } = context;
  const { destination, existing: stored, selection } = rule;
  const ids = matches.map(({ secretId }) => secretId);
  const previews = await secrets.previews(caller.requestId, ids, hashes);
  const of = { destinationId: destination.id, accessor: mount.accessor, secrets: matches };
  const associations = await listAssociationsOfMatches(db, of, stored?.id);
  const entries = await entriesOf(
    db,
    associations.map(({ id }) => id),
  );
  const readable = await policies.mayDoEach(caller, readsOf(mount.path, matches));
  const refusals = await ownerRefusals(context, caller, rule, { mount: mount.path, matches });
  return matches.map((match, at) => {
    const { secretId, path: secretName } = match;
    const preview = previews.find(({ secret_id }) => secret_id === secretId);
    const found = associations.find((one) => one.secretId === secretId);
    const association = found?.lasts ? found : undefined;
    const { path, accessor } = mount;
    return {
      match,
      secret: preview && { ...preview, mount: path, accessor, secretName, namespace: caller.namespace },
      destination: withNaming(destination, association ? association.naming : selection.naming),
      association,
      existing: entries.filter(({ associationId }) => associationId === found?.id),
      isVisible: readable[at]!,
      refusal: refusals[at] ?? (association && whyOtherNaming(selection.naming, association.naming)),
    };
  });
}

const readsOf = (mount: string, matches: readonly Match[]) =>
  matches.map(({ path }) => ({ path: `${mount}/data/${path}`, capability: 'read' as const }));

/** Returns why the owner may not associate each match; undefined if it may. */
async function ownerRefusals(
  { db, policies }: Context,
  { requestId }: Caller,
  { destination, identity }: RuleToPlan,
  { mount, matches }: { mount: string; matches: readonly Match[] },
): Promise<(string | undefined)[]> {
  if ('reason' in identity) return matches.map(() => identity.reason);
  const owner = await currentIdentity(db, identity, requestId);
  if ('reason' in owner) return matches.map(() => `the rule associates nothing new: ${owner.reason}`);
  const path = `sys/sync/destinations/${destination.type}/${destination.name}/associations/set`;
  const sets = matches.map(({ path: secret_name }) => {
    const body = { mount, secret_name };
    return { path, capability: 'update' as const, body };
  });
  const maySet = await policies.mayDoEach(owner.caller, sets);
  const mayRead = await policies.mayDoEach(owner.caller, readsOf(mount, matches));
  return matches.map(({ path: secretName }, at) => {
    if (!maySet[at]) return 'the owner of the rule may not set this association';
    const sentence = `the owner of the rule may not read the secret ${secretName} in mount ${mount}`;
    return mayRead[at] ? undefined : `permission denied: ${sentence}`;
  });
}

/** The names of a new association; undefined if there is none to make. */
const newNames = ({ destination, secret, association, existing }: Found, prefix: string) =>
  association === undefined && secret !== undefined
    ? plannedNames({ destination, secret, existing }, prefix)
    : undefined;

function planOne(
  found: Found & { names: SecretNames | undefined },
  taken: ReadonlyMap<string, string>,
): PlannedMatch {
  const { match, secret, destination, association, existing, refusal, names, isVisible } = found;
  const { path: secretName } = match;
  if (association !== undefined) {
    const change = association.isHeld ? ('kept' as const) : ('held' as const);
    const present = existing.filter(({ desired }) => desired === 'present').map(keptSecret);
    const size =
      secret === undefined ? undefined : sized(findDescription(destination.type), destination, secret);
    const problems = change === 'held' && refusal !== undefined ? [refusal] : [];
    return { secretName, change, problems, secrets: shown(size ? present.map(size) : present, isVisible) };
  }
  if (secret === undefined || names === undefined)
    return {
      secretName,
      change: 'associated',
      problems: ['the state of the secret is unknown'],
      secrets: [],
    };
  const { secrets, refusals } = planSecret({ destination, secret, existing }, names, taken);
  const unreadable = whyNotSyncable({ ...secret, exists: true, folder: false }, secret);
  const problems = [refusal, unreadable, ...refusals].filter((reason) => reason !== undefined);
  return { secretName, change: 'associated', problems, secrets: shown(secrets, isVisible) };
}

const keptSecret = ({ subKey, externalName }: Entry): PlannedSecret => ({
  subKey,
  externalName,
  change: 'kept',
  refusals: [],
});

/** Without the size of the value, if the caller may not read it. */
const shown = (secrets: readonly PlannedSecret[], isVisible: boolean): PlannedSecret[] =>
  secrets.map(({ bytes, valueRefusal, ...secret }) =>
    isVisible && bytes !== undefined ? { ...secret, bytes, valueRefusal } : secret,
  );

async function look(
  context: Context,
  { destination }: RuleToPlan,
  found: readonly Found[],
  planned: readonly PlannedMatch[],
): Promise<PlannedMatch[]> {
  const none = { keys: [] };
  const looked = await lookAtEach(
    context,
    destination,
    found.map(({ destination: { settings }, secret = none, existing, isVisible }, at) => ({
      settings,
      secret,
      existing,
      planned: isVisible ? planned[at]!.secrets : [],
    })),
  );
  return planned.map((one, at) => ({ ...one, secrets: looked[at]!.length > 0 ? looked[at]! : one.secrets }));
}

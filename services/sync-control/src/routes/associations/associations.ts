import { type Endpoint, endpoint, flag, pageQuery } from '@secrets/http';
import { type Entry, entriesOf, readInstallation } from '@secrets/sync-entries';
import { z } from 'zod';
import { associate } from '../../associations/associate.ts';
import {
  AssociationFilter,
  AssociationPosition,
  isWanted,
  readAssociationPage,
  readFilteredAssociationPage,
} from '../../associations/association-page.ts';
import { disassociate } from '../../associations/disassociate.ts';
import { inspectAssociation } from '../../associations/inspect-association.ts';
import { planAssociation } from '../../associations/planning/plan-association.ts';
import { presentPlan } from '../../associations/planning/present-plan.ts';
import {
  type KeyedLine,
  linesByKey,
  presentAssociation,
  presentEntries,
  presentUnsynced,
} from '../../associations/present-association.ts';
import type { Context } from '../../context.ts';
import { startInspection } from '../../destinations/background/looks/start-inspection.ts';
import { readStoredDestination } from '../../destinations/read-stored-destination.ts';
import { requireDestination } from '../../destinations/require-destination.ts';
import { heldByNothing, withHolders, withHoldersOf } from '../../destinations/rules/holders.ts';
import { type AssociationRow, findAssociation } from '../../queries/associations/associations.ts';
import { whyHeld } from '../../queue/why-held.ts';
import { DestinationParams, isList, SecretRef, secretOrList, WaitQuery } from '../fields.ts';
import { planEach, presentHolders, removeEach, setEach } from './secret-lists.ts';

const path = '/sys/sync/destinations/:type/:name/associations';

/** Secrets of one request. A plan shows each external secret of each. */
const maxSecrets = 1_000;
const maxPlannedSecrets = 100;

/** Whether the external secrets stay in the store; in the query or in the body, as the options for deleting a destination. */
const KeepOption = z.object({ keep: flag.optional() });

/** `sys/sync/destinations/<type>/<name>/associations` (docs/conventions/sync.md#set). */
export const associationEndpoints = (context: Context): Endpoint[] => [
  readAssociations(context),
  setAssociation(context),
  planSet(context),
  inspect(context),
  removeAssociation(context),
];

const readAssociations = (context: Context) =>
  endpoint({
    method: 'get',
    path,
    summary: 'Read the associations of a destination',
    params: DestinationParams,
    query: pageQuery({ max: 5_000, after: AssociationPosition }).extend(AssociationFilter.shape),
    handle: async ({ params, query, caller, warn }) => {
      const { after, limit, ...filter } = query;
      const { id } = await requireDestination(context, caller, params);
      const { parts, next } =
        filter.status === undefined && filter.drift === undefined
          ? await readAssociationPage(context, id, { after, limit })
          : await readFilteredAssociationPage(context, id, { filter, after, limit });
      if (next !== undefined) warn(`there may be more associations: ask again with after=${next}`);
      const held = await withHolders(
        context.db,
        parts.map(({ association }) => association),
      );
      const lines = parts.flatMap(({ entries }, at) => presentAssociation(held[at]!, entries));
      const shown = lines.filter(({ line }) => isWanted(filter, line));
      const page = next === undefined ? {} : { next };
      return { data: { ...presentLines(params, shown), ...page } };
    },
  });

const setAssociation = (context: Context) =>
  endpoint({
    method: 'post',
    path: `${path}/set`,
    summary: 'Associate a secret, or several, with a destination, or push them again',
    params: DestinationParams,
    query: WaitQuery,
    budget: 'secret',
    body: secretOrList(maxSecrets, { overwrite: flag.default(false) }),
    handle: async ({ params, query, body, caller, warn }) => {
      const { overwrite } = body;
      if (isList(body)) {
        const options = { overwrite, waitMs: query.wait * 1000 };
        const data = await setEach(context, { params, caller, secrets: body.secrets, options, warn }, (id) =>
          linesById(context, id),
        );
        return { data };
      }
      const request = { ...params, ...oneOf(body), overwrite };
      const id = await associate(context, caller, request, query.wait * 1000);
      const association = await findAssociation(context.db, id);
      const lines = association === undefined ? [] : await linesOf(context, association);
      const held = lines.some(({ line }) => line.sync_status === 'PENDING')
        ? whyHeld(await readInstallation(context.db))
        : undefined;
      if (held !== undefined) warn(held);
      if (association !== undefined && lines.length === 0)
        warn('the secret has no keys, so nothing is synced yet; each key that is added will be');
      return { data: presentLines(params, lines) };
    },
  });

const planSet = (context: Context) =>
  endpoint({
    method: 'post',
    path: `${path}/plan`,
    summary: 'Read what a set would do, without doing it; with a look, also what is in the store',
    params: DestinationParams,
    body: secretOrList(maxPlannedSecrets, { look: flag.default(false) }).refine(
      ({ secrets, look }) => secrets === undefined || !look,
      { path: ['look'], error: 'cannot be combined with secrets' },
    ),
    handle: async ({ params, body, caller, warn }) => {
      if (isList(body))
        return {
          data: await planEach(context, { params, caller, secrets: body.secrets, options: {}, warn }),
        };
      const { mount, secretName } = oneOf(body);
      const { look } = body;
      const plan = await planAssociation(context, caller, { ...params, mount, secretName, look });
      return { data: presentPlan({ ...params, type: params.shownType, mount, secretName }, plan) };
    },
  });

/** Without an association, everything in the destination is looked at. */
const Inspection = SecretRef.partial().refine(
  ({ mount, secret_name: name }) => (mount === undefined) === (name === undefined),
  { path: ['mount'], error: 'mount and secret_name require each other' },
);

const inspect = (context: Context) =>
  endpoint({
    method: 'post',
    path: '/sys/sync/destinations/:type/:name/inspect',
    summary:
      'Look whether the external secrets of an association, or of the whole destination, are still what was pushed, without a change',
    params: DestinationParams,
    body: Inspection,
    handle: async ({ params, body, caller, warn }) => {
      const { mount, secret_name: secretName } = body;
      if (mount === undefined || secretName === undefined) {
        await startInspection(context, caller, params);
        const destination = await requireDestination(context, caller, params);
        return { data: { ...(await readStoredDestination(context, destination)), type: params.shownType } };
      }
      const { association, warnings } = await inspectAssociation(context, caller, {
        ...params,
        mount,
        secretName,
      });
      for (const sentence of warnings) warn(sentence);
      return { data: presentLines(params, await linesOf(context, association)) };
    },
  });

const removeAssociation = (context: Context) =>
  endpoint({
    method: 'post',
    path: `${path}/remove`,
    summary: 'Remove an association, or several: unsync their external secrets, or keep them',
    params: DestinationParams,
    query: WaitQuery.extend(KeepOption.shape),
    budget: 'secret',
    body: secretOrList(maxSecrets, KeepOption.shape),
    handle: async ({ params, query, body, caller, warn }) => {
      const keep = query.keep ?? body.keep ?? false;
      if (isList(body)) {
        const options = { keep, waitMs: query.wait * 1000 };
        const data = await removeEach(
          context,
          { params, caller, secrets: body.secrets, options, warn },
          (removed) => linesAfterRemoval(context, removed),
        );
        return { data };
      }
      const { mount, secretName } = oneOf(body);
      const request = { ...params, mount, secretName, keep };
      const removed = await disassociate(context, caller, request, query.wait * 1000);
      if (removed !== undefined) {
        const lines = presentLines(params, await linesAfterRemoval(context, removed));
        return { data: { ...lines, ...presentHolders(removed.heldBy) } };
      }
      const lines = presentUnsynced(
        { accessor: '', mount, secretName, heldBy: heldByNothing },
        [],
        new Date(),
      );
      return { data: presentLines(params, lines) };
    },
  });

/** The one secret of a body without a list, which `secretOrList` requires. */
const oneOf = ({ mount, secret_name }: { [Field in keyof SecretRef]?: string | undefined }) => ({
  mount: mount!,
  secretName: secret_name!,
});

const presentLines = ({ shownType, name }: DestinationParams, lines: readonly KeyedLine[]) => ({
  associated_secrets: linesByKey(lines),
  store_name: name,
  store_type: shownType,
});

async function linesAfterRemoval(
  context: Context,
  { association: row, entries, heldBy }: { association: AssociationRow; entries: Entry[]; heldBy: string[] },
) {
  const association = await withHoldersOf(context.db, row);
  const left = await entriesOf(context.db, [association.id]);
  if (heldBy.length > 0) return presentEntries(association, left);
  const shown = new Set(left.map(({ subKey }) => subKey));
  const deleted = entries.filter(({ subKey }) => !shown.has(subKey));
  const isUnsynced = deleted.length > 0 || left.length === 0;
  const unsynced = isUnsynced
    ? presentUnsynced({ ...association, heldBy: heldByNothing }, deleted, new Date())
    : [];
  return [...unsynced, ...presentEntries(association, left)];
}

async function linesById(context: Context, id: string): Promise<KeyedLine[]> {
  const association = await findAssociation(context.db, id);
  return association === undefined ? [] : linesOf(context, association);
}

const linesOf = async (context: Context, association: AssociationRow) =>
  presentAssociation(
    await withHoldersOf(context.db, association),
    await entriesOf(context.db, [association.id]),
  );

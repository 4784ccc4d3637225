import type { Caller } from '@secrets/caller';
import { permissionDenied, trimSlashes } from '@secrets/domain';
import { cutToPage, type Endpoint, endpoint, pageQuery, type Request, requireNonEmpty } from '@secrets/http';
import { entriesOf } from '@secrets/sync-entries';
import { z } from 'zod';
import { presentSummary } from '../../associations/present-association.ts';
import { recentTotals } from '../../associations/recent-totals.ts';
import { waitForVersion } from '../../associations/wait-for-version.ts';
import type { Context } from '../../context.ts';
import { countAssociatedSecrets } from '../../queries/associations/association-counts.ts';
import { beforeFirst } from '../../queries/associations/association-pages.ts';
import {
  type AssociatedSecretRow,
  listAssociatedSecretRows,
  listAssociationsByName,
} from '../../queries/associations/associations-of-secret.ts';
import { type Holders, listHolders } from '../../queries/rules/rule-holds.ts';
import { maxCounted, warnIfBounded } from '../bounded-totals.ts';
import { SecretRef, VersionQuery } from '../fields.ts';

/** A position consists of a mount and a secret. */
const SecretPage = pageQuery({ max: 10_000 })
  .pick({ limit: true })
  .extend({
    after_mount: z.string().default('').transform(trimSlashes),
    after_secret: z.string().default(''),
  });

/** A position is the ID of a destination, which is not shown elsewhere. */
const DestinationPage = pageQuery({
  max: 1_000,
  after: z
    .string()
    .regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i, 'must be the `next` of another page'),
});

const path = '/sys/sync/associations';

/** `sys/sync/associations/…`: associations by secret (docs/conventions/sync.md#association-objects). */
export const associatedSecretEndpoints = (context: Context): Endpoint[] => [
  listAssociatedSecrets(context),
  readDestinationsByQuery(context),
  readDestinationsByPath(context),
];

/** A total from here on may be a second old. */
const largeTotal = 1_000;

const listAssociatedSecrets = (context: Context) => {
  const totalOf = recentTotals(
    (namespaceId) => countAssociatedSecrets(context.db, namespaceId, maxCounted),
    ({ associations }) => associations >= largeTotal,
  );
  return endpoint({
    method: 'list',
    path,
    summary: 'List the associated secrets of this namespace',
    query: SecretPage,
    handle: async ({ query, caller, warn }) => {
      const { after_mount: mount, after_secret: secretName, limit } = query;
      const range = { after: { mount, secretName }, limit: limit + 1 };
      const found = requireNonEmpty(await listAssociatedSecretRows(context.db, caller.namespace.id, range));
      const secrets = cutToPage(found, limit, positionOf, warn);
      const total = await totalOf(caller.namespace.id);
      warnIfBounded(total.associations, warn);
      return {
        data: {
          ...presentSecrets(secrets),
          total_associations: total.associations,
          total_secrets: total.secrets,
        },
      };
    },
  });
};

const readDestinationsByQuery = (context: Context) =>
  endpoint({
    method: 'get',
    path: `${path}/destinations`,
    summary:
      'Read where a secret is synced to, or wait for a version, for mounts and names that contain slashes',
    isWait: true,
    query: DestinationPage.extend(VersionQuery.shape).extend(SecretRef.shape),
    handle: async (request) => {
      const abandoned = request.untilAbandoned();
      await requireReadByPath(context, request.caller, request.query);
      return readOrWait(context, request.query, { ...request, abandoned });
    },
  });

/** A query names an object that has a path. Without this check, a policy that denies the path would not protect it. */
async function requireReadByPath(
  { policies }: Context,
  caller: Caller,
  { mount, secret_name: secretName }: SecretRef,
): Promise<void> {
  if (!(await policies.mayRead(caller, `sys/sync/associations/${mount}/${secretName}`)))
    throw permissionDenied();
}

const readDestinationsByPath = (context: Context) =>
  endpoint({
    method: 'get',
    path: `${path}/:mount/*secret_name`,
    summary: 'Read where a secret is synced to, or wait until a version has arrived there',
    isWait: true,
    params: SecretRef,
    query: DestinationPage.extend(VersionQuery.shape),
    handle: (request) =>
      readOrWait(context, request.params, { ...request, abandoned: request.untilAbandoned() }),
  });

type WaitRequest = Pick<Request<unknown, unknown, unknown>, 'caller' | 'warn'> & {
  query: z.output<typeof DestinationPage> & VersionQuery;
  abandoned: AbortSignal;
};

/** Responds with 202 if the version that was asked for is missing somewhere (docs/conventions/sync.md#waiting-for-a-version). */
async function readOrWait(
  context: Context,
  { mount, secret_name: secretName }: SecretRef,
  { query, caller, warn, abandoned }: WaitRequest,
) {
  const { version, wait } = query;
  const isAsked = version !== undefined || wait !== undefined;
  const progress = isAsked
    ? await waitForVersion(
        context,
        caller,
        { mount, secretName, version },
        { waitMs: (wait ?? 0) * 1_000, abandoned },
      )
    : undefined;
  const found = await readDestinationsOf(context, caller, { mount, secretName }, { ...query, warn });
  if (progress === undefined) return { data: found };
  for (const sentence of progress.warnings) warn(sentence);
  const { hasArrived, missing, currentVersion } = progress;
  const shown = { version: progress.version, current_version: currentVersion, missing };
  return { status: hasArrived ? 200 : 202, data: { ...found, ...shown } };
}

const positionOf = ({ mount, secretName }: AssociatedSecretRow) => ({
  after_mount: mount,
  after_secret: secretName,
});

/** Two different secrets can join to one text (`a` + `b/c`, `a/b` + `c`), so each key has a list. */
function presentSecrets(secrets: readonly AssociatedSecretRow[]) {
  const byKey = Map.groupBy(secrets, ({ mount, secretName }) => `${mount}/${secretName}`);
  const keyInfo = [...byKey].map(([key, list]) => [
    key,
    list.map(({ mount, secretName }) => ({ mount: `${mount}/`, secret_path: secretName })),
  ]);
  return { key_info: Object.fromEntries(keyInfo), keys: [...byKey.keys()] };
}

/** Names of rules that are shown of an association. */
const maxRules = 20;

const presentHolders = ({ byHand, rules }: Pick<Holders, 'byHand' | 'rules'>) => ({
  held_by_hand: byHand,
  held_by_rules: rules,
});

async function readDestinationsOf(
  context: Context,
  caller: Caller,
  secret: AssociatedSecretRow,
  {
    after = beforeFirst,
    limit,
    warn,
  }: z.output<typeof DestinationPage> & { warn: (sentence: string) => void },
) {
  const range = { after, limit: limit + 1 };
  const found = requireNonEmpty(await listAssociationsByName(context.db, caller.namespace.id, secret, range));
  const associations = cutToPage(found, limit, (last) => ({ after: last.destinationId }), warn);
  const ids = associations.map(({ id }) => id);
  const entries = Map.groupBy(await entriesOf(context.db, ids), ({ associationId }) => associationId);
  const holders = new Map(
    (await listHolders(context.db, ids, maxRules)).map((one) => [one.associationId, one]),
  );
  return {
    associated_destinations: Object.fromEntries(
      associations.map((association) => {
        const { id, type, name } = association;
        const summary = presentSummary(association, entries.get(id) ?? []);
        const held = presentHolders(holders.get(id) ?? { byHand: false, rules: [] });
        return [`${type}/${name}`, { type, name, ...summary, ...held }];
      }),
    ),
    ...(found.length > limit ? { next: associations.at(-1)!.destinationId } : {}),
  };
}

import type { Caller } from '@secrets/caller';
import { notFound } from '@secrets/domain';
import { endpoint } from '@secrets/http';
import { entriesOf } from '@secrets/sync-entries';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { presentSummary } from '../present-association.ts';
import { associatedSecrets, associationsByName, totals } from '../queries/associations.ts';
import { maxCounted, warnIfBounded } from './bounded-totals.ts';
import { SecretRef, withoutOuterSlashes } from './destination-ref.ts';

export const listAssociations = ({ db }: Context) =>
  endpoint({
    method: 'list',
    path: '/sys/sync/associations',
    summary: 'List every associated secret, paged by `after_mount`, `after_secret` and `limit`',
    query: z.object({
      after_mount: z.string().default('').transform(withoutOuterSlashes),
      after_secret: z.string().default(''),
      limit: z.coerce.number().int().min(1).max(10_000).default(10_000),
    }),
    handle: async ({ query, caller, warn }) => {
      const after = { mount: query.after_mount, secretName: query.after_secret };
      const secrets = await associatedSecrets(db, caller.namespace.id, after, query.limit);
      if (secrets.length === 0) throw notFound();
      if (secrets.length === query.limit)
        warn('there may be more: ask again after the last mount and secret of this page');
      // Two different secrets can join to one text (`a` + `b/c`, `a/b` + `c`), so a key holds a list.
      const byKey = Map.groupBy(secrets, ({ mount, secretName }) => `${mount}/${secretName}`);
      const keyInfo = [...byKey].map(([key, list]) => [
        key,
        list.map(({ mount, secretName }) => ({ mount: `${mount}/`, secret_path: secretName })),
      ]);
      const { associations, secrets: totalSecrets } = await totals(db, caller.namespace.id, maxCounted);
      warnIfBounded(associations, warn);
      return {
        data: {
          key_info: Object.fromEntries(keyInfo),
          keys: [...byKey.keys()],
          total_associations: associations,
          total_secrets: totalSecrets,
        },
      };
    },
  });

export const readBySecretPath = (context: Context) =>
  endpoint({
    method: 'get',
    path: '/sys/sync/associations/:mount/*secret_name',
    summary: 'Read where a secret is synced to',
    params: SecretRef,
    handle: async ({ params, caller }) => ({ data: await destinationsOf(context, caller, params) }),
  });

export const readBySecretQuery = (context: Context) =>
  endpoint({
    method: 'get',
    path: '/sys/sync/associations/destinations',
    summary: 'Read where a secret is synced to, for mounts and names that hold slashes',
    query: SecretRef,
    handle: async ({ query, caller }) => ({ data: await destinationsOf(context, caller, query) }),
  });

async function destinationsOf({ db }: Context, caller: Caller, ref: z.infer<typeof SecretRef>) {
  const associations = await associationsByName(db, caller.namespace.id, ref.mount, ref.secret_name);
  if (associations.length === 0) throw notFound();
  const entries = Map.groupBy(
    await entriesOf(
      db,
      associations.map(({ id }) => id),
    ),
    ({ associationId }) => associationId,
  );
  return {
    associated_destinations: Object.fromEntries(
      associations.map((association) => {
        const { id, type, name } = association;
        return [`${type}/${name}`, { type, name, ...presentSummary(association, entries.get(id) ?? []) }];
      }),
    ),
  };
}

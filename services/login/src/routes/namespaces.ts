import { invalid, notFound } from '@secrets/domain';
import { type Endpoint, endpoint, integer, stringMap } from '@secrets/http';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { isWithin, namespaceBelow } from '../namespaces/namespace-path.ts';
import {
  deleteNamespace,
  insertNamespace,
  type NamespaceRow,
  namespaceByPath,
  namespacesBelow,
  setNamespaceMetadata,
} from '../queries/namespaces.ts';
import { requireGrant } from '../require-grant.ts';

const params = z.object({ path: z.string() });
const metadata = stringMap.refine(
  (map) => Object.keys(map).length <= 64 && JSON.stringify(map).length <= 16_384,
  {
    error: 'holds at most 64 names and 16 KiB',
  },
);

/** `sys/namespaces/<path>`, the path relative to the namespace of the request (docs/conventions.md#28-namespaces). */
export const namespaceEndpoints = (context: Context): Endpoint[] => [
  listNamespaces(context),
  readNamespace(context),
  writeNamespace(context),
  patchNamespace(context),
  removeNamespace(context),
];

const presentNamespace = ({ id, path, customMetadata }: NamespaceRow) => ({
  id,
  path: `${path}/`,
  custom_metadata: customMetadata,
});

const listNamespaces = (context: Context) =>
  endpoint({
    method: 'list',
    path: '/sys/namespaces',
    summary: 'List the namespaces directly below this one',
    query: z.object({
      after: z.string().default(''),
      limit: integer.pipe(z.int().min(1).max(1_000)).default(1_000),
    }),
    handle: async ({ caller, query }) => {
      const rows = await namespacesBelow(context.db, caller.namespace.path, query);
      if (rows.length === 0) throw notFound();
      const named = rows.map((row) => [`${row.path.split('/').at(-1)}/`, presentNamespace(row)] as const);
      return { data: { keys: named.map(([name]) => name), key_info: Object.fromEntries(named) } };
    },
  });

const readNamespace = (context: Context) =>
  endpoint({
    method: 'get',
    path: '/sys/namespaces/*path',
    summary: 'Read a namespace',
    params,
    handle: async ({ params: { path }, caller }) => {
      const row = await namespaceByPath(context.db, namespaceBelow(caller.namespace.path, path));
      if (row === undefined) throw notFound();
      return { data: presentNamespace(row) };
    },
  });

const writeNamespace = (context: Context) =>
  endpoint({
    method: 'post',
    path: '/sys/namespaces/*path',
    summary: 'Create a namespace, or replace its custom metadata',
    params,
    body: z.object({ custom_metadata: metadata.optional() }),
    handle: async ({ params: { path: relative }, body, caller }) => {
      const path = namespaceBelow(caller.namespace.path, relative);
      const known = await namespaceByPath(context.db, path);
      requireGrant(caller, known !== undefined);
      const customMetadata = body.custom_metadata ?? known?.customMetadata ?? {};
      if (known === undefined)
        return { data: presentNamespace(await insertNamespace(context.db, path, customMetadata)) };
      await setNamespaceMetadata(context.db, known.id, customMetadata);
      return { data: presentNamespace({ ...known, customMetadata }) };
    },
  });

const patchNamespace = (context: Context) =>
  endpoint({
    method: 'patch',
    path: '/sys/namespaces/*path',
    summary: "Change a namespace's custom metadata; null removes a name",
    params,
    body: z.object({ custom_metadata: z.record(z.string(), z.string().nullable()) }),
    handle: async ({ params: { path }, body, caller }) => {
      const known = await namespaceByPath(context.db, namespaceBelow(caller.namespace.path, path));
      if (known === undefined) throw notFound();
      const merged = Object.entries({ ...known.customMetadata, ...body.custom_metadata });
      const parsed = metadata.safeParse(Object.fromEntries(merged.filter(([, value]) => value !== null)));
      if (!parsed.success) throw invalid('custom_metadata: holds at most 64 names and 16 KiB');
      await setNamespaceMetadata(context.db, known.id, parsed.data);
      return { data: presentNamespace({ ...known, customMetadata: parsed.data }) };
    },
  });

const removeNamespace = (context: Context) =>
  endpoint({
    method: 'delete',
    path: '/sys/namespaces/*path',
    summary:
      'Delete a namespace that holds no namespaces and no auth mounts; its tokens and policies go with it',
    params,
    handle: async ({ params: { path }, caller }) => {
      const known = await namespaceByPath(context.db, namespaceBelow(caller.namespace.path, path));
      if (known?.id === 'admin') throw invalid('the administrative namespace cannot be deleted');
      if (known !== undefined && isWithin(caller.tokenNamespace.path, known.path))
        throw invalid('a namespace cannot be deleted with a token of its own');
      if (known !== undefined) await deleteNamespace(context.db, known);
      return undefined;
    },
  });

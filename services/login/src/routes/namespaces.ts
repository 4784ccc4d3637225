import { notFound, trimSlashes } from '@secrets/domain';
import { cutToPage, type Endpoint, endpoint, pageQuery, requireAny } from '@secrets/http';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { patchNamespaceMetadata, removeNamespace, saveNamespace } from '../namespaces/change-namespace.ts';
import { CustomMetadata } from '../namespaces/custom-metadata.ts';
import { namespaceBelow } from '../namespaces/namespace-path.ts';
import { childNamespaces, type NamespaceRow, namespaceByPath } from '../queries/namespaces.ts';

const path = '/sys/namespaces/*path';
const NamespaceParams = z.object({ path: z.string() });

/** `sys/namespaces/<path>`, with paths relative to the namespace of the request (docs/conventions.md#28-namespaces). */
export const namespaceEndpoints = (context: Context): Endpoint[] => [
  listNamespaces(context),
  readNamespace(context),
  writeNamespace(context),
  patchNamespace(context),
  deleteNamespace(context),
];

const presentNamespace = ({ id, path, customMetadata }: NamespaceRow) => ({
  id,
  path: `${path}/`,
  custom_metadata: customMetadata,
});

const keyOf = ({ path }: NamespaceRow): string => `${path.slice(path.lastIndexOf('/') + 1)}/`;

const listNamespaces = (context: Context) =>
  endpoint({
    method: 'list',
    path: '/sys/namespaces',
    summary: 'List the namespaces directly below this one',
    query: pageQuery({ max: 1_000 }),
    handle: async ({ caller, query: { after = '', limit }, warn }) => {
      const range = { after: trimSlashes(after), limit: limit + 1 };
      const found = requireAny(await childNamespaces(context.db, caller.namespace.path, range));
      const page = cutToPage(found, limit, (row) => ({ after: keyOf(row) }), warn);
      const named = page.map((row) => [keyOf(row), presentNamespace(row)] as const);
      return { data: { keys: named.map(([name]) => name), key_info: Object.fromEntries(named) } };
    },
  });

const readNamespace = (context: Context) =>
  endpoint({
    method: 'get',
    path,
    summary: 'Read a namespace',
    params: NamespaceParams,
    handle: async ({ params, caller }) => {
      const namespace = await namespaceByPath(context.db, namespaceBelow(caller.namespace.path, params.path));
      if (namespace === undefined) throw notFound();
      return { data: presentNamespace(namespace) };
    },
  });

const writeNamespace = (context: Context) =>
  endpoint({
    method: 'post',
    path,
    summary: 'Create a namespace, or replace its custom metadata',
    needs: 'create or update',
    params: NamespaceParams,
    body: z.object({ custom_metadata: CustomMetadata.nullable().optional() }),
    handle: async ({ params, body, caller }) => {
      const target = namespaceBelow(caller.namespace.path, params.path);
      const customMetadata = body.custom_metadata === null ? {} : body.custom_metadata;
      return { data: presentNamespace(await saveNamespace(context.db, caller, target, customMetadata)) };
    },
  });

const patchNamespace = (context: Context) =>
  endpoint({
    method: 'patch',
    path,
    summary: "Change a namespace's custom metadata; null removes a name, or all of them",
    params: NamespaceParams,
    body: z.object({ custom_metadata: z.record(z.string(), z.string().nullable()).nullable() }),
    handle: async ({ params, body, caller }) => {
      const target = namespaceBelow(caller.namespace.path, params.path);
      return {
        data: presentNamespace(await patchNamespaceMetadata(context.db, target, body.custom_metadata)),
      };
    },
  });

const deleteNamespace = (context: Context) =>
  endpoint({
    method: 'delete',
    path,
    summary: 'Delete an empty namespace with its tokens, policies and entities',
    params: NamespaceParams,
    handle: async ({ params, caller }) => {
      await removeNamespace(context.db, caller, namespaceBelow(caller.namespace.path, params.path));
      return undefined;
    },
  });

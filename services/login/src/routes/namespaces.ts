import { orPairs, trimSlashes, withoutNul } from '@secrets/domain';
import { describedPage, type Endpoint, endpoint, pageQuery } from '@secrets/http';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { customMetadata } from '../namespaces/custom-metadata.ts';
import { patchNamespaceMetadata } from '../namespaces/patch-namespace-metadata.ts';
import { removeNamespace } from '../namespaces/remove-namespace.ts';
import { requireNamespace } from '../namespaces/require-namespace.ts';
import { saveNamespace } from '../namespaces/save-namespace.ts';
import { listChildNamespaces, type NamespaceRow } from '../queries/namespaces.ts';

const Page = pageQuery({ max: 1_000 });
const NamespaceParams = z.object({
  path: z
    .string()
    .meta({ pattern: '^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}(?:/[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})*$' }),
});
const NamespaceBody = z.object({ custom_metadata: customMetadata.nullable().optional() });
const NamespacePatch = z.object({
  custom_metadata: orPairs(
    z.record(z.string().meta(withoutNul), z.string().meta(withoutNul).nullable()),
  ).nullable(),
});

const basePath = '/sys/namespaces';
const path = `${basePath}/*path`;

/** `sys/namespaces/<path>`, with paths relative to the namespace of the request (docs/conventions/access.md#namespaces). */
export const namespaceEndpoints = (context: Context): Endpoint[] => [
  listNamespaces(context),
  readNamespace(context),
  writeNamespace(context),
  patchNamespace(context),
  deleteNamespace(context),
];

const listNamespaces = (context: Context) =>
  endpoint({
    method: 'list',
    path: basePath,
    summary: 'List the namespaces directly below this one',
    query: Page,
    handle: async ({ query, caller, warn }) => {
      const { after = '', limit } = query;
      const range = { after: trimSlashes(after), limit: limit + 1 };
      const found = await listChildNamespaces(context.db, caller.namespace.path, range);
      return { data: describedPage(found, { limit, warn, keyOf, present: presentNamespace }) };
    },
  });

const readNamespace = (context: Context) =>
  endpoint({
    method: 'get',
    path,
    summary: 'Read a namespace',
    params: NamespaceParams,
    handle: async ({ params, caller }) => ({
      data: presentNamespace(await requireNamespace(context, caller, params.path)),
    }),
  });

const writeNamespace = (context: Context) =>
  endpoint({
    method: 'post',
    path,
    summary: 'Create a namespace, or replace its custom metadata; omitted fields keep their values',
    needs: 'create or update',
    params: NamespaceParams,
    body: NamespaceBody,
    handle: async ({ params, body, caller }) => {
      const metadata = body.custom_metadata === null ? {} : body.custom_metadata;
      return { data: presentNamespace(await saveNamespace(context, caller, params.path, metadata)) };
    },
  });

const patchNamespace = (context: Context) =>
  endpoint({
    method: 'patch',
    path,
    summary: 'Update the custom metadata of a namespace (merge patch); null removes a name, or all of them',
    params: NamespaceParams,
    body: NamespacePatch,
    handle: async ({ params, body, caller }) => {
      const patched = await patchNamespaceMetadata(context, caller, params.path, body.custom_metadata);
      return { data: presentNamespace(patched) };
    },
  });

const deleteNamespace = (context: Context) =>
  endpoint({
    method: 'delete',
    path,
    summary: 'Delete an empty namespace with its tokens, policies and entities',
    params: NamespaceParams,
    handle: async ({ params, caller, warn }) => {
      const existed = await removeNamespace(context, caller, params.path);
      if (!existed) warn('there was no such namespace');
      return { data: { status: 'deleted' } };
    },
  });

const presentNamespace = (row: NamespaceRow) => ({
  id: row.id,
  uuid: row.id,
  path: `${row.path}/`,
  custom_metadata: row.customMetadata,
  locked: false,
  tainted: false,
});

const keyOf = (row: NamespaceRow): string => `${row.path.slice(row.path.lastIndexOf('/') + 1)}/`;

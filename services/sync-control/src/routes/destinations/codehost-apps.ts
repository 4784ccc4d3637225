import { enterpriseUrl, mask } from '@secrets/destinations';
import {
  cutToPage,
  type Endpoint,
  endpoint,
  integerBetween,
  pageQuery,
  requireNonEmpty,
} from '@secrets/http';
import { z } from 'zod';
import type { Context } from '../../context.ts';
import { removeCodehostApp } from '../../destinations/codehost-apps/remove-codehost-app.ts';
import { requireCodehostApp } from '../../destinations/codehost-apps/require-codehost-app.ts';
import { saveCodehostApp } from '../../destinations/codehost-apps/save-codehost-app.ts';
import { type CodehostAppRow, listCodehostAppNames } from '../../queries/destinations/codehost-apps.ts';
import { name } from '../fields.ts';

const AppParams = z.object({ name });

const CodehostApp = z.object({
  app_id: integerBetween(1, 999_999_999_999_999, 'must be 1 or more'),
  private_key: z
    .string()
    .max(16_384, 'must have at most 16384 characters')
    .describe('RSA, PEM (PKCS#1 or PKCS#8)'),
  enterprise_url: enterpriseUrl
    .optional()
    .describe('https URL of a self-hosted server; cannot be changed. Default: the public service'),
});

const mountType = 'system';

/**
 * `sys/sync/codehost-apps/…`: applications registered at a code host
 * (docs/destinations/codehost.md#code-host-applications). The alternative name of the path is not described.
 */
export const codehostAppEndpoints = (context: Context): Endpoint[] => [
  ...endpointsAt('/sys/sync/codehost-apps', context),
  ...endpointsAt('/sys/sync/github-apps', context).map((same) => ({ ...same, describedAs: [] })),
];

const endpointsAt = (path: string, context: Context): Endpoint[] => [
  listCodehostApps(path, context),
  readCodehostApp(`${path}/:name`, context),
  writeCodehostApp(`${path}/:name`, context),
  deleteCodehostApp(`${path}/:name`, context),
];

const listCodehostApps = (path: string, context: Context) =>
  endpoint({
    method: 'list',
    path,
    summary: 'List the code-host applications of this namespace',
    query: pageQuery({ max: 10_000, after: z.string().max(4096) }),
    handle: async ({ query, caller, warn }) => {
      const { after = '', limit } = query;
      const range = { after, limit: limit + 1 };
      const names = requireNonEmpty(await listCodehostAppNames(context.db, caller.namespace.id, range));
      return { data: { keys: cutToPage(names, limit, (last) => ({ after: last }), warn) }, mountType };
    },
  });

const readCodehostApp = (path: string, context: Context) =>
  endpoint({
    method: 'get',
    path,
    summary: 'Read a code-host application; its private key is masked',
    params: AppParams,
    handle: async ({ params, caller }) => ({
      data: presentApp(await requireCodehostApp(context, caller, params.name)),
      mountType,
    }),
  });

const writeCodehostApp = (path: string, context: Context) =>
  endpoint({
    method: 'post',
    path,
    summary: 'Create or replace a code-host application',
    needs: 'create or update',
    params: AppParams,
    body: CodehostApp,
    handle: async ({ params, body, caller }) => {
      const { app_id: appId, private_key: privateKey, enterprise_url: server } = body;
      await saveCodehostApp(context, caller, params.name, { appId, privateKey, enterpriseUrl: server });
      return { data: presentApp(await requireCodehostApp(context, caller, params.name)), mountType };
    },
  });

const deleteCodehostApp = (path: string, context: Context) =>
  endpoint({
    method: 'delete',
    path,
    summary: 'Delete a code-host application here, not at the code host',
    params: AppParams,
    handle: ({ params, caller }) => removeCodehostApp(context, caller, params.name),
  });

const presentApp = ({ name, appId, fingerprint, enterpriseUrl: server }: CodehostAppRow) => ({
  app_id: appId,
  enterprise_url: server,
  fingerprint,
  name,
  private_key: mask,
});

import { ImportGrant, ImportWrite, importedTypes, importPathOf, workerOf } from '@secrets/domain';
import { type Endpoint, endpoint } from '@secrets/http';
import { seal } from '@secrets/seal';
import type { Context } from '../context.ts';
import { importVersion } from '../kv/versions/import-version.ts';

/** Endpoints with which workers write what they import, as far as sync-control has permitted it (docs/adr/0050-imports.md). */
export const importEndpoints = (context: Context): Endpoint[] =>
  importedTypes.map((type) => writeImported(context, type));

const writeImported = (context: Context, type: string) =>
  endpoint({
    method: 'post',
    path: importPathOf(type),
    summary: `Write a version of a secret whose value is in a store of the type ${type}`,
    from: workerOf(type),
    body: ImportWrite.transform(({ text, ...signed }) => ({ ...signed, text: seal(text) })),
    handle: async ({ body: { grant: signed, permit, text } }) => {
      const caller = context.versions.permittedBy(permit, signed);
      const grant = ImportGrant.parse(JSON.parse(signed));
      const { version } = await importVersion(context, grant, text);
      context.log.info({ requestId: caller.requestId, origin: grant.origin, version }, 'secret imported');
      return { data: { version } };
    },
  });

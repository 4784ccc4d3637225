import { randomUUID } from 'node:crypto';
import * as awaited from '../../../../sync-control/src/queries/destinations/awaited-values.ts';
import * as imports from '../../../../sync-control/src/queries/destinations/imports.ts';
import { type Case, casesOf, destinations, seededId } from './cases.ts';

/** The import with 100,000 lines. */
const id = seededId('import1');

const line = {
  externalName: 'x',
  path: 'p',
  result: 'new',
  reason: null,
  isWritten: true,
  association: 'requested',
} as const;
const next = { error: null, attempts: 0, retryInSeconds: 0 };

export const importCases: Case[] = casesOf('sync-control', {
  'reading the progress of an import': async (db) => {
    await imports.findImport(db, destinations.busy);
    await imports.listImportLines(db, id, { after: 50_000, limit: 100 });
  },
  'beginning an import': (db) =>
    imports.replaceImport(db, {
      id: randomUUID(),
      destinationId: destinations.ordinary,
      sealedRequest: Buffer.from('x'),
    }),
  'cancelling an import': (db) => imports.cancelImport(db, destinations.busy),
  'a page of an import': async (db) => {
    await imports.findUsedPaths(db, id, ['path7', 'path70000', 'none']);
    const lease = (await imports.claimImport(db))!;
    await imports.recordImportPage(db, { ...lease, lines: 200_000 }, [line], {
      ...next,
      sealedRequest: Buffer.from('x'),
      isListed: false,
    });
  },
  'a page of awaited values': async (db) => {
    const [first] = await awaited.listAwaited(db, { after: seededId('awaited'), limit: 20 });
    await awaited.upsertAwaited(db, { ...first!, id: randomUUID() });
    await awaited.recordSeenRevision(db, first!.id, 2);
    await awaited.deleteAwaited(db, first!.id);
  },
  'the associations of an import': async (db) => {
    const lines = await imports.listLinesToAssociate(db, id, 50);
    await imports.recordAssociated(db, id, lines[0]!.number, { association: 'associated', reason: null });
    await imports.endImportStep(db, (await imports.claimImport(db))!, next);
  },
});

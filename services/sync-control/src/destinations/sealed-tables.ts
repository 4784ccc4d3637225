import { credentialsAad } from '@secrets/destinations';
import { codehostAppAad } from '@secrets/domain';
import type { SealedTable } from '@secrets/seal-rotation';
import { sealedTable } from '@secrets/seal-rotation';
import { awaitedAad, importAad } from './calls/import/background/stored-import.ts';
import { ownerAad } from './rules/stored-owner.ts';

/** Every column of this schema with sealed bytes. */
export const sealedTables: readonly [SealedTable, ...SealedTable[]] = [
  sealedTable({
    name: 'sync.destinations',
    column: 'sealed_credentials',
    key: [['id', 'uuid']],
    aadColumns: { id: 't.id', type: 't.type', settings: 't.settings::text' },
    aadOf: ({ id, type, settings }) => credentialsAad({ id, type, settings: JSON.parse(settings) }),
  }),
  sealedTable({
    name: 'sync.codehost_apps',
    column: 'sealed_private_key',
    key: [['id', 'uuid']],
    aadColumns: { id: 't.id', enterpriseUrl: 't.enterprise_url' },
    aadOf: codehostAppAad,
  }),
  sealedTable({
    name: 'sync.imports',
    column: 'sealed_request',
    key: [['destination_id', 'uuid']],
    aadColumns: { id: 't.id' },
    aadOf: ({ id }) => importAad(id),
  }),
  sealedTable({
    name: 'sync.awaited_values',
    column: 'sealed_request',
    key: [['id', 'uuid']],
    aadColumns: { id: 't.id' },
    aadOf: ({ id }) => awaitedAad(id),
  }),
  sealedTable({
    name: 'sync.rules',
    column: 'sealed_owner',
    key: [['id', 'uuid']],
    aadColumns: {
      id: 't.id',
      mountId: 't.mount_id',
      path: 't.path',
      exclude: 'to_json(t.exclude)::text',
      metadataMatch: 't.metadata_match::text',
    },
    aadOf: ({ exclude, metadataMatch, ...same }) =>
      ownerAad({ ...same, exclude: JSON.parse(exclude), metadataMatch: JSON.parse(metadataMatch) }),
  }),
];

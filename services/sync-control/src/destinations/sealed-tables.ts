import { codehostAppAad, credentialsAad } from '@secrets/domain';
import type { SealedTable } from '@secrets/seal-rotation';
import { sealedTable } from '@secrets/seal-rotation';

/** Every column of this schema with sealed bytes. */
export const sealedTables: readonly [SealedTable, ...SealedTable[]] = [
  sealedTable({
    name: 'sync.destinations',
    column: 'sealed_credentials',
    key: [['id', 'uuid']],
    aadColumns: { id: 't.id' },
    aadOf: ({ id }) => credentialsAad(id),
  }),
  sealedTable({
    name: 'sync.codehost_apps',
    column: 'sealed_private_key',
    key: [['id', 'uuid']],
    aadColumns: { id: 't.id' },
    aadOf: ({ id }) => codehostAppAad(id),
  }),
];

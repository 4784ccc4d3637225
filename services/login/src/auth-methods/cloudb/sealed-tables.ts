import { type SealedTable, sealedTable } from '@secrets/seal-rotation';
import { clientSecretAad } from './config/client-secret.ts';
import { pendingSecretAad } from './rotation/pending-secret.ts';

/** Every column of this method with sealed bytes. */
export const cloudBSealedTables: readonly SealedTable[] = [
  sealedTable({
    name: 'login.cloudb_configs',
    column: 'sealed_client_secret',
    key: [['mount_id', 'uuid']],
    aadColumns: { mountId: 't.mount_id' },
    aadOf: ({ mountId }) => clientSecretAad(mountId),
  }),
  sealedTable({
    name: 'login.cloudb_rotations',
    column: 'sealed_pending_secret',
    key: [['mount_id', 'uuid']],
    aadColumns: { mountId: 't.mount_id' },
    aadOf: ({ mountId }) => pendingSecretAad(mountId),
  }),
];

import { type SealedTable, sealedTable } from '@secrets/seal-rotation';
import { configFields } from './config/config-settings.ts';
import { columnOf, secretAad } from './config/secret-fields.ts';
import { pendingSecretAad } from './rotation/pending-secret.ts';

/** Every column of this method with sealed bytes. */
export const cloudBSealedTables: readonly SealedTable[] = [
  ...configFields.secretNames.map((field) =>
    sealedTable({
      name: 'login.cloudb_configs',
      column: columnOf(field),
      key: [['mount_id', 'uuid']],
      aadColumns: { mountId: 't.mount_id' },
      aadOf: ({ mountId }) => secretAad(mountId, field),
    }),
  ),
  sealedTable({
    name: 'login.cloudb_rotations',
    column: 'sealed_pending_secret',
    key: [['mount_id', 'uuid']],
    aadColumns: { mountId: 't.mount_id' },
    aadOf: ({ mountId }) => pendingSecretAad(mountId),
  }),
];

import type { SealedTable } from '@secrets/seal-rotation';
import { sealedTable } from '@secrets/seal-rotation';
import { clientSecretAad } from './auth-methods/cloudb/config/client-secret.ts';
import { pendingSecretAad } from './auth-methods/cloudb/rotation/pending-secret.ts';
import { signingKeyAad } from './identity/signing-key.ts';
import { wrappedAad } from './wrapping/wrap-response.ts';

/** Every column of this schema with sealed bytes. */
export const sealedTables: readonly [SealedTable, ...SealedTable[]] = [
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
  sealedTable({
    name: 'login.identity_keys',
    column: 'sealed_private_key',
    key: [['id', 'text']],
    aadColumns: { id: 't.id' },
    aadOf: ({ id }) => signingKeyAad(id),
  }),
  sealedTable({
    name: 'login.wrapped_responses',
    column: 'sealed',
    key: [['hash', 'bytea']],
    aadColumns: { hash: "encode(t.hash, 'hex')" },
    aadOf: ({ hash }) => wrappedAad(Buffer.from(hash, 'hex')),
  }),
];

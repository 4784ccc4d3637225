import { type SealedTable, sealedTable } from '@secrets/seal-rotation';
import { clientSecretAad } from './config/client-secret.ts';

/** Every column of this method with sealed bytes. */
export const jwtSealedTables: readonly SealedTable[] = [
  sealedTable({
    name: 'login.jwt_configs',
    column: 'sealed_oidc_client_secret',
    key: [['mount_id', 'uuid']],
    aadColumns: { mountId: 't.mount_id' },
    aadOf: ({ mountId }) => clientSecretAad(mountId),
  }),
];

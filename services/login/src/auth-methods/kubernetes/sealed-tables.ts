import { type SealedTable, sealedTable } from '@secrets/seal-rotation';
import { reviewerAad } from './config/reviewer-jwt.ts';

/** Every column of this method with sealed bytes. */
export const kubernetesSealedTables: readonly SealedTable[] = [
  sealedTable({
    name: 'login.kubernetes_configs',
    column: 'sealed_token_reviewer_jwt',
    key: [['mount_id', 'uuid']],
    aadColumns: { mountId: 't.mount_id' },
    aadOf: ({ mountId }) => reviewerAad(mountId),
  }),
];

import { versionAad } from '@secrets/domain';
import type { SealedTable } from '@secrets/seal-rotation';
import { sealedTable } from '@secrets/seal-rotation';

const ofSecret = (column: string): string =>
  `(select s.${column} from secrets.secrets s where s.id = t.secret_id)`;

/** Every column of this schema with sealed bytes. */
export const sealedTables: readonly [SealedTable] = [
  sealedTable({
    name: 'secrets.versions',
    column: 'sealed',
    key: [
      ['secret_id', 'uuid'],
      ['version', 'integer'],
    ],
    aadColumns: { mountId: ofSecret('mount_id'), path: ofSecret('path'), versionId: 't.id' },
    aadOf: versionAad,
  }),
];

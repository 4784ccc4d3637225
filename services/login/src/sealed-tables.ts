import { type SealedTable, sealedTable } from '@secrets/seal-rotation';
import { sealedTablesOfMethods } from './auth-methods/registry.ts';
import { signingKeyAad } from './issuer/signing-key.ts';
import { wrappedAad } from './wrapping/wrap-response.ts';

/** Every column of this schema with sealed bytes. */
export const sealedTables: readonly [SealedTable, ...SealedTable[]] = [
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
  ...sealedTablesOfMethods,
];

import { Caller } from '@secrets/caller';
import { StorePosition } from '@secrets/domain';
import { decrypt, encrypt, type KeyRing } from '@secrets/seal';
import { z } from 'zod';

const ImportedAs = z.union([
  z.object({ kind: z.literal('json') }),
  z.object({ kind: z.literal('key'), key: z.string() }),
]);

/** An import that runs in the background, and the caller that has requested it. */
const StoredImport = z.object({
  caller: Caller,
  type: z.string(),
  name: z.string(),
  mount: z.string(),
  selection: z.union([z.object({ names: z.array(z.string()) }), z.object({ match: z.string() })]),
  /** The template of the paths in the mount. */
  pathTemplate: z.string(),
  importedAs: ImportedAs,
  /** Whether secrets with an equal value are associated with the destination. */
  associates: z.boolean(),
  /** Whether a secret that has another value than the external secret stays as it is, or gets a new version. */
  onConflict: z.enum(['leave', 'new_version']),
  /** Where the next page begins. A driver calls what it contains. */
  position: StorePosition,
});
export type StoredImport = Omit<z.infer<typeof StoredImport>, 'caller'> & { caller: Caller };

const AwaitedRequest = StoredImport.pick({
  caller: true,
  type: true,
  name: true,
  mount: true,
  importedAs: true,
}).extend({ externalName: z.string(), path: z.string() });
/** A secret whose first version takes over an external secret, and the caller that has requested it. */
type AwaitedRequest = Omit<z.infer<typeof AwaitedRequest>, 'caller'> & { caller: Caller };

/** The associated data of the sealed request of an import. */
export const importAad = (id: string): string => `sync.imports:${id}`;

/** Encrypts a request: a row that was changed by somebody else cannot make it write other secrets, or for another caller. */
export const sealImport = (keyRing: KeyRing, id: string, request: StoredImport): Buffer =>
  encrypt(keyRing, importAad(id), Buffer.from(JSON.stringify(request)));

/** @throws SealError if the row was changed, or its key is unknown */
export const openImport = (
  keyRing: KeyRing,
  { id, sealedRequest }: { id: string; sealedRequest: Uint8Array },
): StoredImport => StoredImport.parse(JSON.parse(decrypt(keyRing, importAad(id), sealedRequest).toString()));

/** The associated data of what is sealed for an awaited value. */
export const awaitedAad = (id: string): string => `sync.awaited_values:${id}`;

/** Encrypts a request as `sealImport`. */
export const sealAwaited = (keyRing: KeyRing, id: string, request: AwaitedRequest): Buffer =>
  encrypt(keyRing, awaitedAad(id), Buffer.from(JSON.stringify(request)));

/** @throws SealError as `openImport` */
export const openAwaited = (
  keyRing: KeyRing,
  { id, sealedRequest }: { id: string; sealedRequest: Uint8Array },
): AwaitedRequest =>
  AwaitedRequest.parse(JSON.parse(decrypt(keyRing, awaitedAad(id), sealedRequest).toString()));

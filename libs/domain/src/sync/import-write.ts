import { z } from 'zod';

/** The types whose stores return values, so that their workers import them. */
export const importedTypes = ['cloudA-sm', 'cloudB-kv', 'cloudC-sm', 'webhost-project'] as const;

/** The internal path below `/v1` where the worker of a type writes what it imports. */
export const importPathOf = (type: string): string => `/internal/imports/${type.toLowerCase()}`;

/**
 * One version that a worker may write: sync-control has checked that the caller of the import may, and signs it as text
 * (`signPermit`). It can be used once, because of `cas`.
 */
export const ImportGrant = z.object({
  namespace_id: z.string(),
  mount: z.string(),
  path: z.string(),
  /** The current version of the secret; 0 if it has none. */
  cas: z.number().int().min(0),
  /** The key whose value the text becomes; null if the text is a JSON object with the keys. */
  key: z.string().nullable(),
  /** The external secret, as `<type>/<destination>/<external name>`. */
  origin: z.string(),
});
export type ImportGrant = z.infer<typeof ImportGrant>;

/** A grant as it was signed, with its signature. */
export const SignedGrant = z.object({ grant: z.string(), permit: z.string() });
export type SignedGrant = z.infer<typeof SignedGrant>;

/** The request with which a worker writes: `text` is the value in the store. */
export const ImportWrite = SignedGrant.extend({ text: z.string() });
export type ImportWrite = z.infer<typeof ImportWrite>;

/** The key of the custom metadata that names the origin of an imported version. */
export const originKey = 'imported_from';

import { z } from 'zod';

/** The destination types whose workers may request identity tokens (docs/adr/0015-identity-tokens-for-workers.md). */
export const federatedTypes = ['cloudA-sm', 'cloudB-kv', 'cloudC-sm'] as const;

/** The name of the service that works on a destination type. */
export const workerOf = (type: string): string => `sync-worker-${type.toLowerCase()}`;

/** The lifetimes that an identity token of a destination may have, in seconds. */
export const identityTokenSeconds = { least: 60, most: 86_400, usual: 3_600 } as const;

/** The audience of an identity token must have fewer characters. */
export const audienceCharacters = 600;

/** The path on which login issues identity tokens to the worker of a type, below `/v1`. */
export const syncTokenPath = (type: string): string => `/internal/identity-tokens/${type}`;

/**
 * The subject of identity tokens about a destination, by which providers know it. Neither a namespace nor a name contains a
 * colon, so that no two destinations have the same.
 * @param namespacePath empty for the root namespace
 */
export const destinationSubject = (destination: {
  namespacePath: string;
  type: string;
  name: string;
}): string => `secrets-sync:${destination.namespacePath || 'root'}:${destination.type}:${destination.name}`;

/** Body of a worker's request for an identity token. The type of destination is in the path, and login composes the subject. */
export const SyncTokenRequest = z.object({
  /** Empty for the root namespace. */
  namespace_path: z
    .string()
    .max(1_024)
    .regex(/^[^:]*$/, 'must not contain a colon'),
  name: z
    .string()
    .max(256)
    .regex(/^[^:]+$/, 'must not be empty or contain a colon'),
  audience: z
    .string()
    .min(1)
    .max(audienceCharacters - 1),
  ttl_seconds: z.int().min(identityTokenSeconds.least).max(identityTokenSeconds.most),
});
export type SyncTokenRequest = z.infer<typeof SyncTokenRequest>;

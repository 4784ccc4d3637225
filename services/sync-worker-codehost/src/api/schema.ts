import { z } from 'zod';

// The provider's responses, with only the fields that are read.

export const PublicKey = z.object({
  key_id: z.string().min(1),
  /** An X25519 key has 32 bytes. */
  key: z.string().refine((key) => Buffer.from(key, 'base64').length === 32),
});
export type PublicKey = z.infer<typeof PublicKey>;

export const FoundSecret = z.object({
  created_at: z.iso.datetime({ offset: true }),
  updated_at: z.iso.datetime({ offset: true }),
  /** Only of an organization's secret. */
  visibility: z.string().optional(),
});
export type FoundSecret = z.infer<typeof FoundSecret>;

export const ListedSecrets = z.object({
  total_count: z.int().nonnegative(),
  secrets: z.array(FoundSecret.extend({ name: z.string() })),
});

/** A repository, an environment or an organization. */
export const Identified = z.object({ id: z.int().positive() });

export const Counted = z.object({ total_count: z.int().nonnegative() });

export const Repositories = z.array(z.object({ id: z.int(), name: z.string() }));
export type Repositories = z.infer<typeof Repositories>;

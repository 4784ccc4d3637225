import { Fault } from '@secrets/domain';
import { z } from 'zod';

// Of the provider's answers, only what is read.

const ReplicationStatus = z
  .array(z.object({ Region: z.string(), Status: z.string().optional() }))
  .default([]);

export const Written = z.object({
  ARN: z.string(),
  VersionId: z.string(),
  VersionStages: z.array(z.string()).optional(),
  ReplicationStatus,
});

export const Replicated = z.object({ ReplicationStatus });

export const Described = z.object({
  ARN: z.string(),
  Name: z.string(),
  KmsKeyId: z.string().optional(),
  DeletedDate: z.date().optional(),
  OwningService: z.string().optional(),
  PrimaryRegion: z.string().optional(),
  Tags: z.array(z.object({ Key: z.string().default(''), Value: z.string().default('') })).default([]),
  ReplicationStatus,
});

export type Described = z.infer<typeof Described>;
export type ReplicationStatus = z.infer<typeof ReplicationStatus>;

/** Reads an answer; one without what it must have is nonsense, hence `unavailable`. */
export function parseResponse<Schema extends z.ZodType>(schema: Schema, answer: unknown): z.output<Schema> {
  const parsed = schema.safeParse(answer);
  if (parsed.success) return parsed.data;
  throw new Fault('unavailable', 'the secrets manager gave an answer that cannot be understood');
}

import { seal } from '@secrets/seal';
import { z } from 'zod';

// The provider's responses, with only the fields that are read.

const ReplicationStatus = z
  .array(
    z.object({
      Region: z.string(),
      Status: z.string().optional(),
      StatusMessage: z.string().optional(),
      KmsKeyId: z.string().optional(),
    }),
  )
  .default([]);

export const Written = z.object({
  ARN: z.string(),
  VersionId: z.string(),
  VersionStages: z.array(z.string()).optional(),
  ReplicationStatus,
});

export const Replicated = z.object({ ReplicationStatus });

const described = {
  ARN: z.string(),
  Name: z.string(),
  KmsKeyId: z.string().optional(),
  DeletedDate: z.date().optional(),
  CreatedDate: z.date().optional(),
  LastChangedDate: z.date().optional(),
  OwningService: z.string().optional(),
  PrimaryRegion: z.string().optional(),
  Tags: z.array(z.object({ Key: z.string().default(''), Value: z.string().default('') })).default([]),
  /** The labels of each version by its ID. */
  VersionIdsToStages: z.record(z.string(), z.array(z.string())).default({}),
  ReplicationStatus,
};

export const Described = z.object(described);

/** Secrets are listed with the fields of a description, except some that are not read here. */
export const Listed = z.object({
  SecretList: z.array(z.object(described)).default([]),
  NextToken: z.string().optional(),
});

/** A version with its value: a text, or bytes that this service has not written. */
export const Value = z.object({ VersionId: z.string(), SecretString: z.string().transform(seal).optional() });

export type Described = z.infer<typeof Described>;
export type ReplicationStatus = z.infer<typeof ReplicationStatus>;

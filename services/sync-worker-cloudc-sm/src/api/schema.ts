import { z } from 'zod';

// The provider's responses as its SDK returns them, with only the fields that are read.

/** Names end with the ID of a resource; before it, they contain the number of the project, whatever the request contained. */
const versionNumber = z
  .string()
  .regex(/\/versions\/\d{1,15}$/)
  .transform((name) => Number(name.slice(name.lastIndexOf('/') + 1)));

const Timestamp = z
  .object({ seconds: z.union([z.string(), z.number()]), nanos: z.number().default(0) })
  .transform(({ seconds, nanos }) => `${seconds}.${nanos}`);

const encryption = {
  customerManagedEncryption: z.object({ kmsKeyName: z.string().default('') }).nullish(),
};

/** The versions of keys that a version is encrypted with. */
const encryptionStatus = {
  customerManagedEncryption: z.object({ kmsKeyVersionName: z.string().default('') }).nullish(),
};

export const Secret = z
  .object({
    name: z.string().default(''),
    /** Distinguishes a secret from a later one of the same name. */
    createTime: Timestamp,
    labels: z.record(z.string(), z.string()).default({}),
    etag: z.string().default(''),
    replication: z
      .object({
        automatic: z.object(encryption).nullish(),
        userManaged: z
          .object({ replicas: z.array(z.object({ location: z.string(), ...encryption })) })
          .nullish(),
      })
      .nullish(),
    ...encryption, // of a regional secret
  })
  .transform(({ name, ...secret }) => ({
    ...secret,
    /** The location of a regional secret. */
    location: /^projects\/[^/]+\/locations\/([^/]+)\//.exec(name)?.[1],
    /** The number of the project; undefined if the name does not contain it. */
    project: /^projects\/(\d{1,20})\//.exec(name)?.[1],
  }));
export type Secret = z.infer<typeof Secret>;

/** A page of secrets, each with its ID. */
export const Listed = z.object({
  secrets: z.array(
    z.looseObject({ name: z.string() }).transform((secret) => ({
      id: secret.name.slice(secret.name.lastIndexOf('/') + 1),
      ...Secret.parse(secret),
    })),
  ),
  next: z.string().nullish(),
});

export const Version = z
  .object({
    name: versionNumber,
    etag: z.string().default(''),
    replicationStatus: z
      .object({
        automatic: z.object(encryptionStatus).nullish(),
        userManaged: z.object({ replicas: z.array(z.object(encryptionStatus)) }).nullish(),
      })
      .nullish(),
    ...encryptionStatus, // of a regional secret
  })
  .transform(({ name, etag, replicationStatus, ...regional }) => ({
    number: name,
    etag,
    /** Full names of the versions of keys that it is encrypted with; undefined if the response does not show that. */
    keyVersions:
      replicationStatus || regional.customerManagedEncryption
        ? [regional, replicationStatus?.automatic, ...(replicationStatus?.userManaged?.replicas ?? [])]
            .map((status) => status?.customerManagedEncryption?.kmsKeyVersionName)
            .filter((key) => key !== undefined)
        : undefined,
  }));
export type Version = z.infer<typeof Version>;

export const Accessed = z.object({
  name: versionNumber,
  payload: z.object({
    data: z.custom<Uint8Array>((data) => ArrayBuffer.isView(data)),
    dataCrc32c: z.union([z.string(), z.number()]).transform(String).nullish(),
  }),
});

export type VersionState = 'ENABLED' | 'DISABLED' | 'DESTROYED';

/** One version of a secret's value. */
export interface SecretVersion {
  readonly number: number;
  state: VersionState;
  /** Base64, as on the wire; undefined once the version is destroyed. */
  data: string | undefined;
  /** Whether the client sent a checksum of the value. */
  readonly hasChecksum: boolean;
  etag: string;
  readonly createdAtMs: number;
  destroyedAtMs?: number | undefined;
}

interface Encryption {
  customerManagedEncryption?: { kmsKeyName: string } | undefined;
}

export type Replication =
  | { automatic: Encryption }
  | { userManaged: { replicas: ({ location: string } & Encryption)[] } };

export interface Secret {
  readonly project: string;
  readonly id: string;
  readonly replication: Replication;
  labels: Record<string, string>;
  annotations: Record<string, string>;
  etag: string;
  /** By number, oldest first. */
  versions: Map<number, SecretVersion>;
  /** Position in lists; increases with every creation. */
  readonly position: number;
  readonly createdAtMs: number;
  changedAtMs: number;
}

/** The persisted form of a secret, without its versions. The field names are the journal's format. */
export type SecretRow = Omit<Secret, 'versions'>;

export function toRow({ versions: _, ...secret }: Secret): SecretRow {
  return secret;
}

/** The version that `latest` denotes: the newest one, whatever its state. */
export const latestVersion = (secret: Secret): SecretVersion | undefined =>
  [...secret.versions.values()].at(-1);

/** Size of a version's value in bytes. */
export const sizeOf = ({ data }: SecretVersion): number => Math.floor(((data?.length ?? 0) * 3) / 4);

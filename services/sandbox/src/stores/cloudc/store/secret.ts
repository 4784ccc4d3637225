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
  /** With a delayed destruction, when the version is destroyed. Until then, it is disabled. */
  scheduledDestroyAtMs?: number | undefined;
  /** The keys that it is encrypted with, by location: those of the secret when the version was added. */
  readonly keys?: Readonly<Record<string, string>>;
}

interface Encryption {
  customerManagedEncryption?: { kmsKeyName: string } | undefined;
}

export type Replication =
  | { automatic: Encryption }
  | { userManaged: { replicas: ({ location: string } & Encryption)[] } };

/** Where a secret is stored, and with which keys. A regional secret has a location, and no replication. */
export interface Storage extends Encryption {
  readonly location?: string | undefined;
  replication?: Replication | undefined;
}

export interface Secret extends Storage {
  readonly project: string;
  readonly id: string;
  expireAtMs?: number | undefined;
  /** How long a version is disabled before it is destroyed. */
  versionDestroyTtlMs?: number | undefined;
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

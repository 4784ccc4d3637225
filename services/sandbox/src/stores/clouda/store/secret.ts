/** One version of a secret's value. Exactly one of `text` and `binary` is set. */
export interface SecretVersion {
  id: string;
  text?: string | undefined;
  /** Base64, as on the wire. */
  binary?: string | undefined;
  createdAtMs: number;
}

export interface Replica {
  region: string;
  kmsKeyId?: string | undefined;
  /** The final status of the replication, which is in progress until `settlesAtMs`. */
  status: 'InSync' | 'Failed';
  statusMessage?: string | undefined;
  settlesAtMs?: number | undefined;
}

export interface Secret {
  readonly name: string;
  readonly arn: string;
  description?: string | undefined;
  /** Set only if a client specified it; the provider's default key is never filled in. */
  kmsKeyId?: string | undefined;
  tags: Map<string, string>;
  /** Staging label to version ID. */
  stages: Map<string, string>;
  versions: Map<string, SecretVersion>;
  replicas: Replica[];
  /** Set on a replica: the region of its primary secret. */
  primaryRegion?: string | undefined;
  /** Position in lists; increases with every creation. */
  readonly position: number;
  readonly createdAtMs: number;
  changedAtMs: number;
  /** When deletion was requested. */
  deletedAtMs?: number | undefined;
  /** When the secret is purged. */
  purgeAtMs?: number | undefined;
  /** Deleted without recovery: the secret is invisible, but its name stays reserved until it is purged. */
  forced?: boolean | undefined;
}

/** The persisted form of a secret, without its versions. The field names are the journal's format. */
export type SecretRow = Omit<Secret, 'tags' | 'stages' | 'versions'> & {
  tags: [string, string][];
  stages: [string, string][];
};

export function toRow({ versions: _, ...secret }: Secret): SecretRow {
  return { ...secret, tags: [...secret.tags], stages: [...secret.stages] };
}

export function fromRow(row: SecretRow, versions: Map<string, SecretVersion>): Secret {
  return { ...row, tags: new Map(row.tags), stages: new Map(row.stages), versions };
}

/** Size of a version's value in bytes. */
export function sizeOf({ text, binary }: SecretVersion): number {
  return Buffer.byteLength(text ?? '') + Math.floor(((binary?.length ?? 0) * 3) / 4);
}

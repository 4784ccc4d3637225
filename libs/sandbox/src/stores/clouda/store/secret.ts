/** One version of a secret's value; exactly one of `text` and `binary` is set. */
export interface SecretVersion {
  id: string;
  text?: string | undefined;
  /** Base64, as it travels. */
  binary?: string | undefined;
  createdAtMs: number;
}

export interface Replica {
  region: string;
  kmsKeyId?: string | undefined;
  /** What the replication comes to; until then it is in progress. */
  status: 'InSync' | 'Failed';
  statusMessage?: string | undefined;
  settlesAtMs?: number | undefined;
}

export interface Secret {
  readonly name: string;
  readonly arn: string;
  description?: string | undefined;
  /** Only what a client sent; the provider's default key is never filled in. */
  kmsKeyId?: string | undefined;
  tags: Map<string, string>;
  /** Staging label to version id. */
  stages: Map<string, string>;
  versions: Map<string, SecretVersion>;
  replicas: Replica[];
  /** Set on a replica: where the secret is that it mirrors. */
  primaryRegion?: string | undefined;
  /** Position in lists; grows with every creation. */
  readonly position: number;
  readonly createdAtMs: number;
  changedAtMs: number;
  /** When deletion was asked for. */
  deletedAtMs?: number | undefined;
  /** When the secret ceases to exist. */
  purgeAtMs?: number | undefined;
  /** Deleted without recovery: its name is taken until it is purged, and nothing else of it can be seen. */
  forced?: boolean | undefined;
}

/** Kept form of everything of a secret but its versions. */
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

/** UTF-8 bytes of the value of a version. */
export function sizeOf({ text, binary }: SecretVersion): number {
  return Buffer.byteLength(text ?? '') + Math.floor(((binary?.length ?? 0) * 3) / 4);
}

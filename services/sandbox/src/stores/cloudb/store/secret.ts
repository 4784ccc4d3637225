/** One version of a secret. */
export interface SecretVersion {
  id: string;
  value: string;
  contentType?: string | undefined;
  tags: Record<string, string>;
  enabled: boolean;
  /** Not before and expiry, in seconds since 1970; the service stores them and does not enforce them. */
  nbf?: number | undefined;
  exp?: number | undefined;
  createdAtMs: number;
  updatedAtMs: number;
}

/** A change of state that takes until `untilMs`. Meanwhile, the secret is in neither the old nor the new state. */
interface Transition {
  to: 'deleted' | 'active' | 'purged';
  untilMs: number;
}

export interface Secret {
  /** As it was first written; names differ only in more than their case. */
  readonly name: string;
  versions: Map<string, SecretVersion>;
  /** ID of the newest version. */
  newest: string;
  /** Backed by a certificate, and managed by the service. */
  managed: boolean;
  deletedAtMs?: number | undefined;
  /** When a deleted secret is purged. */
  purgeAtMs?: number | undefined;
  transition?: Transition | undefined;
}

/** The persisted form of a secret, without its versions. The field names are the journal's format. */
export type SecretRow = Omit<Secret, 'versions'>;

export const toRow = ({ versions: _, ...row }: Secret): SecretRow => row;

export function newestOf(secret: Secret): SecretVersion {
  const version = secret.versions.get(secret.newest);
  if (!version) throw new Error('a secret has no newest version');
  return version;
}

/** Size of a version's value in bytes. */
export const sizeOf = ({ value }: SecretVersion): number => Buffer.byteLength(value);

import type { Json } from '@secrets/domain';
import type { EgressGuard } from '@secrets/egress';
import type { Sealed } from '@secrets/seal';
import type { Logger } from '@secrets/telemetry';
import type { EntryRequest } from './entry-request.ts';
import type { InspectRequest, ListPage, Look, Untouched } from './look.ts';
import type { Overwrite } from './ownership.ts';
import type { ScopeMemory } from './scope-memory.ts';

/** The destination that a driver connects to, as its owner configured it. */
export interface DestinationSettings {
  id: string;
  type: string;
  name: string;
  namespacePath: string;
  /** Non-secret fields of the description (`region`, `custom_tags`, `conflict_policy`, …), already parsed and defaulted. */
  settings: Record<string, unknown>;
  /** Secret fields (`secret_access_key`, …) that are set. */
  credentials: Sealed<Record<string, string>>;
}

/** Keyed hashes of values. They may be part of `remote`: they do not reveal the values, not even short ones. */
export interface ValueHash {
  of(value: Uint8Array | string): string;
  /** Whether it is the hash of this value. */
  matches(value: Uint8Array | string, hash: string): boolean;
}

export interface StartOptions {
  /** Whether the put may consist of several writes. */
  inParts?: boolean;
}

/** A value that an external secret must get. */
export interface PutRequest extends EntryRequest {
  /** Its size is not checked yet; see `connected`. */
  value: Sealed<string>;
  /**
   * 64 hex characters, the same for the same entry, intent and value, and different otherwise. A put that is repeated
   * after a crash has the same token.
   */
  idempotencyToken: string;
  /** Whether an existing secret that does not belong to any destination may be taken over; for `requireWritable`. */
  overwrite: Overwrite;
  /**
   * Records durably that this put is about to write (`putStartedAt` of later calls). A driver that relies on `putStartedAt`
   * awaits it before each write of a secret whose `remote` is null, after it has found that it may write: the secret does not
   * exist, belongs to the entry, or may be taken over. Costs one statement for the first put of a secret, and none afterwards.
   *
   * Never called earlier: a process that dies after this call leaves the mark behind, whatever it would have found. Throws if
   * the attempt is over; the driver then writes nothing and lets the error pass.
   *
   * If the put then fails with a refusal (`isRefusal`), it has written nothing, and the mark is removed again, unless an
   * earlier put has set it. Not if the put writes `inParts`: an earlier part may have succeeded.
   */
  recordStart(options?: StartOptions): Promise<void>;
  /**
   * Records durably what later calls get as `remote`, until a put succeeds and returns another one. For what a driver must know
   * after a crash and cannot see in the store, such as which write it has begun. Costs one statement per call. As with
   * `recordStart`, the driver calls it after it has found that it may write, and writes nothing if it throws.
   */
  recordRemote(remote: Json): Promise<void>;
  valueHash: ValueHash;
  /** Whether the value differs from the one last pushed, or may do so. If not, only settings such as tags may have changed. */
  valueChanged: boolean;
  /** Whether to read the external secret and repair it if it was changed from outside, although nothing changed here. */
  verify: boolean;
}

/** An external secret that is kept, but no longer updated. */
export type ReleaseRequest = EntryRequest;

/** An external secret that is no longer wanted. */
export interface RemoveRequest extends EntryRequest {
  /**
   * Whether the secret must stay recoverable where the store has a recovery window, because its removal was not requested in
   * sync itself.
   */
  isRecoverable?: boolean;
}

/**
 * A destination with its client. Each method is idempotent and ends when the signal aborts. Drivers neither loop nor
 * retry: every failure is thrown as a `Fault`, and the runtime decides from its kind about the next attempt.
 */
export interface ConnectedDestination {
  /**
   * Reconciles the external secret with the value and the destination's settings. Returns what to store about it for
   * the next call, such as IDs, versions and tags. It is not encrypted and must not contain the value. Must not be null. If it
   * has a text in `notice`, the entry shows it although it is synced: a setting that the existing external secret cannot follow.
   *
   * Throws `conflict` only if the external secret is not this entry's and this call has not written it: `putStartedAt` is null
   * afterwards.
   */
  put(request: PutRequest, signal: AbortSignal): Promise<{ remote: Json }>;
  /**
   * Removes the external secret. It also succeeds if the secret does not exist, or does not belong to the destination
   * and is therefore left unchanged. Afterwards, `remote` and `putStartedAt` are null.
   */
  remove(request: RemoveRequest, signal: AbortSignal): Promise<void>;
  /**
   * Leaves the external secret as it is, except for the built-in tags of the destination: without them, it belongs to no
   * destination. It also succeeds if the secret does not exist, or does not have them. Absent if the store shows no owner.
   */
  release?(request: ReleaseRequest, signal: AbortSignal): Promise<void>;
  /**
   * Reads what is there now, in as few calls as possible, and changes nothing. Values do not leave the driver.
   * @throws {Fault} if the store does not say: what is unknown is neither absent nor changed
   */
  inspect(request: InspectRequest, signal: AbortSignal): Promise<Look>;
  /**
   * Reads the store's lists to find entries whose external secrets are as the last put has left them. Nothing follows about the
   * others. Absent unless one page of a list serves many entries (`looksByList` of the description).
   */
  findUntouched?(requests: readonly EntryRequest[], signal: AbortSignal): Promise<Untouched>;
  /**
   * Lists the external secrets that are where the destination keeps its own, whoever they belong to, without their values; a page
   * as large as the store permits.
   * @param after `next` of the page before; null for the first page
   */
  list(after: string | null, signal: AbortSignal): Promise<ListPage>;
  /** Closes all sockets. May be called more than once. */
  close(): Promise<void>;
}

/** The audience and the lifetime of an identity token. */
export interface IdentityTokenRequest {
  audience: string;
  ttlSeconds: number;
}

/** Services that the worker provides to a driver. */
export interface DriverContext {
  log: Logger;
  /** Every socket of a driver must be opened through its agents. */
  egress: EgressGuard;
  /** The installation's prefix, which built-in tags contain. */
  prefix: string;
  /** The remembered ID of the repository, project or account of the secrets. A driver calls `require` before it writes. */
  scope: ScopeMemory;
  /**
   * Returns a new identity token (a JWT) about the destination that is connected, with which a provider that trusts the issuer
   * gives access. Throws `Fault`: `unauthenticated` if the issuer is not configured, `unavailable` if it does not respond.
   */
  identityToken(request: IdentityTokenRequest): Promise<string>;
  /**
   * Returns what entries remember (`remote`) of external secrets of this destination and of others of its type, for what the
   * store does not show of them. One statement; of more than 2,000, the first ones are looked up.
   */
  remembered(secrets: readonly ExternalSecretName[]): Promise<RememberedSecret[]>;
}

/** The name of an external secret, and the ID of the destination that it belongs to. */
export interface ExternalSecretName {
  destinationId: string;
  externalName: string;
}

/** State that the last put of an external secret has returned. */
export interface RememberedSecret extends ExternalSecretName {
  remote: Json;
}

/** The part of a destination type that does I/O. Its other part is the description in `libs/destinations`. */
export interface Driver {
  /** The API's type identifier, such as `cloudA-sm`. */
  readonly type: string;
  /** Creates the client, without calling the destination. Throws `Fault` for settings that cannot work. */
  connect(destination: DestinationSettings, context: DriverContext): Promise<ConnectedDestination>;
}

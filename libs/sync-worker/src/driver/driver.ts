import type { Json } from '@secrets/domain';
import type { Sealed } from '@secrets/seal';
import type { Logger } from '@secrets/telemetry';
import type { EgressGuard } from '../egress/egress-guard.ts';

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

/** A value that an external secret must get. */
export interface PutRequest {
  entryId: string;
  externalName: string;
  /** Its size is not checked yet; see `requireFit`. */
  value: Sealed<string>;
  /**
   * 64 hex characters, the same for the same entry, intent and value, and different otherwise. A put that is repeated
   * after a crash has the same token.
   */
  idempotencyToken: string;
  /** Whether an existing secret that does not belong to any destination may be taken over. */
  overwrite: boolean;
  /** What the last successful put of this entry returned; null for the first put. */
  remote: Json | null;
  /** Whether the value differs from the one last pushed. If not, only settings such as tags may have changed. */
  valueChanged: boolean;
  /** Whether to read the external secret and repair it if it was changed from outside, although nothing changed here. */
  verify: boolean;
}

export interface RemoveRequest {
  entryId: string;
  externalName: string;
  remote: Json | null;
}

/**
 * A destination with its client. Each method is idempotent and ends when the signal aborts. Drivers neither loop nor
 * retry: every failure is thrown as a `Fault`, and the runtime decides from its kind about the next attempt.
 */
export interface ConnectedDestination {
  /**
   * Reconciles the external secret with the value and the destination's settings. Returns what to store about it for
   * the next call, such as IDs, versions and tags. It is not encrypted and must not contain the value.
   */
  put(request: PutRequest, signal: AbortSignal): Promise<{ remote: Json }>;
  /**
   * Removes the external secret. It also succeeds if the secret does not exist, or does not belong to the destination
   * and is therefore left unchanged.
   */
  remove(request: RemoveRequest, signal: AbortSignal): Promise<void>;
  /** Closes all sockets. May be called more than once. */
  close(): Promise<void>;
}

/** What the worker provides to a driver. */
export interface DriverContext {
  log: Logger;
  /** Every socket of a driver must be opened through its agents. */
  egress: EgressGuard;
  /** The installation's prefix, which built-in tags contain. */
  prefix: string;
}

/** The part of a destination type that does I/O. Its other part is the description in `libs/destinations`. */
export interface Driver {
  /** The API's type identifier, such as `cloudA-sm`. */
  readonly type: string;
  /** Creates the client, without calling the destination. Throws `Fault` for settings that cannot work. */
  connect(destination: DestinationSettings, context: DriverContext): Promise<ConnectedDestination>;
}

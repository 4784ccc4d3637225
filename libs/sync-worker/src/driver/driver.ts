import type { Json } from '@secrets/domain';
import type { Sealed } from '@secrets/seal';
import type { Logger } from '@secrets/telemetry';
import type { EgressGuard } from '../egress/egress-guard.ts';

/** What a driver is given to connect with: the destination as its owner described it. */
export interface DestinationSettings {
  id: string;
  type: string;
  name: string;
  namespacePath: string;
  /** Non-secret fields of the description (`region`, `custom_tags`, `conflict_policy`, …), already parsed and defaulted. */
  settings: Record<string, unknown>;
  /** Secret fields (`secret_access_key`, …); absent ones are absent. */
  credentials: Sealed<Record<string, string>>;
}

/** One external secret to be brought to a value. */
export interface PutRequest {
  entryId: string;
  externalName: string;
  /** What is to be stored; at most the description's `maxValueBytes` (checked before the call). */
  value: Sealed<string>;
  /**
   * 64 hex characters: the same for the same entry, intent and value, another for every other. A repeated put after
   * a crash carries the same one.
   */
  idempotencyToken: string;
  /** Whether one that exists and is not ours may be taken over. */
  overwrite: boolean;
  /** What the last successful put of this entry returned; null at the first. */
  remote: Json | null;
  /** The value differs from what was last pushed; false when only settings such as tags may differ. */
  valueChanged: boolean;
  /** The operator asks to look at the external secret again although nothing changed here: repair it if it drifted. */
  verify: boolean;
}

export interface RemoveRequest {
  entryId: string;
  externalName: string;
  remote: Json | null;
}

/**
 * A destination with its client. Three verbs, each idempotent and bounded by the signal; no verb loops or retries:
 * that is the runtime's, fed by the kind of the `Fault` that each failure becomes.
 */
export interface ConnectedDestination {
  /** Reconciles the external secret with the value. Resolves with what to remember of it (ids, versions, tags set; never a value). */
  put(request: PutRequest, signal: AbortSignal): Promise<{ remote: Json }>;
  /** Makes the external secret absent. Absent already, or not ours, is success (the latter untouched). */
  remove(request: RemoveRequest, signal: AbortSignal): Promise<void>;
  /** Lets go of sockets. */
  close(): Promise<void>;
}

export interface DriverContext {
  log: Logger;
  /** Every socket of a driver is opened through it. */
  egress: EgressGuard;
  /** The installation's prefix, for built-in tags. */
  prefix: string;
}

/** The I/O half of a destination type; its pure half is the description in `libs/destinations`. */
export interface Driver {
  /** The API's type identifier, such as `cloudA-sm`. */
  readonly type: string;
  /** Makes the client; does no I/O that could fail for long. Throws `Fault` for settings that cannot work. */
  connect(destination: DestinationSettings, context: DriverContext): Promise<ConnectedDestination>;
}

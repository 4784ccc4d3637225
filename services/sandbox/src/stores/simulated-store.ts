import type { RequestHandler } from 'express';
import type { Directory } from '../directory/directory.ts';
import type { FederatedCredentials } from '../federation/federated-credential.ts';
import type { Simulation, SimulationContext } from '../simulation/simulation.ts';

/** Dependencies that the sandbox provides to each simulated store. */
export interface StoreContext extends SimulationContext {
  directory: Directory;
  federation: FederatedCredentials;
}

/** One external secret, as shown by `GET /_sandbox/stores`. */
export interface StoredSecret {
  name: string;
  /** The subdivision of the store that holds it: a region, a vault, a project. */
  region: string;
  /** The newest value in clear text; undefined if the secret has none. */
  value: string | undefined;
  tags: Record<string, string>;
  version_count: number;
  /** When the secret is purged, ISO 8601; null unless it is scheduled for deletion. */
  deleted_at: string | null;
  updated_at: string;
}

/** A change that somebody makes beside the service, as in the provider's console. */
export type HandChange = {
  name: string;
  /** Needed only where several secrets have the name. */
  region?: string | undefined;
} & (
  | { action: 'delete' }
  /** `edit` leaves tags and labels; `recreate` deletes the secret for good and creates another one without any. */
  | { action: 'edit' | 'recreate'; value: string }
);

/** A simulated external store. To add one, see `simulated-stores.ts`. */
export interface SimulatedStore extends Simulation {
  /** Routes at the root, for clients whose endpoint is a host without a path. They must not match anything else. */
  readonly rootRoutes?: RequestHandler;
  /** What a client needs to authenticate. */
  readonly credentials: Readonly<Record<string, string>>;
  /** Further credentials that do not follow from the seed. They are generated with the first use, and kept in the journal. */
  generatedCredentials?(): Readonly<Record<string, string>>;
  /** All secrets, in no particular order. */
  secrets(): StoredSecret[];
  /** Changes the secrets with this name. Returns how many there are. It is not a call: neither faults nor quotas apply. */
  changeByHand(change: HandChange): number;
}

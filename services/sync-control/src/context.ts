import type { PolicyReader } from '@secrets/access';
import type { Db } from '@secrets/db';
import type { KeyRing } from '@secrets/seal';
import type { QueueRoom } from './queue-room.ts';
import type { SecretsClient } from './secrets-client.ts';
import type { WaitForOutcome } from './wait-for-outcome.ts';

/** What the handlers of sync-control receive. */
export interface Context {
  db: Db;
  keyRing: KeyRing;
  secrets: SecretsClient;
  /** What a caller may do on paths other than the request's. */
  policies: PolicyReader;
  queue: { room: QueueRoom; notify(): void; outcome: WaitForOutcome };
  prefix: string;
}

import type { PolicyReader } from '@secrets/access';
import type { Db } from '@secrets/db';
import type { CheckMessage } from '@secrets/domain';
import type { KeyRing } from '@secrets/seal';
import type { QueueRoom } from './queue/queue-room.ts';
import type { WaitForOutcome } from './queue/wait-for-outcome.ts';
import type { SecretsClient } from './secrets-client.ts';

/** What the endpoints of this service use. */
export interface Context {
  db: Db;
  keyRing: KeyRing;
  secrets: SecretsClient;
  /** What a caller may do on paths other than the one of the request. */
  policies: PolicyReader;
  /** The queue of pending operations: its room, the scheduler's wake-up call, the outcome of an association, and the workers of a type. */
  queue: {
    room: QueueRoom;
    notify(): void;
    outcome: WaitForOutcome;
    publish(destinationType: string, message: CheckMessage): Promise<void>;
  };
  /** Prefix of external names and built-in tags. */
  prefix: string;
}

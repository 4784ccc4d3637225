import type { PolicyReader } from '@secrets/access';
import type { Broker } from '@secrets/broker';
import type { Db } from '@secrets/db';
import type { CheckMessage, LookMessage, LookPageMessage, StoreReadMessage } from '@secrets/domain';
import type { Budget } from '@secrets/scheduler';
import type { KeyRing } from '@secrets/seal';
import type { SecretsClient } from './changes/secrets-client.ts';
import type { QueueRoom } from './queue/queue-room.ts';
import type { WaitForArrival } from './queue/wait-for-arrival.ts';
import type { WaitForOutcome } from './queue/wait-for-outcome.ts';

/** Services that the endpoints use. */
export interface Context {
  db: Db;
  keyRing: KeyRing;
  secrets: SecretsClient;
  /** Decides on paths other than the one of the request. */
  policies: PolicyReader;
  queue: Queue;
  /** Prefix of external names and built-in tags. */
  prefix: string;
}

/** The queue of pending operations. */
export interface Queue {
  room: QueueRoom;
  /** Wakes the scheduler of one type, or of all. */
  notify(destinationType?: string): void;
  /** Begins looks that were requested, without waiting for the task in the background. Never throws. */
  lookSoon(destinationType: string): Promise<void>;
  outcome: WaitForOutcome;
  arrival: WaitForArrival;
  /** Sends a message to the workers of a type. */
  publish(
    destinationType: string,
    message: CheckMessage | LookMessage | LookPageMessage | StoreReadMessage,
  ): Promise<void>;
  /** The budget of each lane, by destination type. */
  budgets: Readonly<Record<string, Budget>>;
  /** The dead letters of all queues. */
  deadLetters: Pick<Broker, 'deadLetterDepth' | 'deadLetters' | 'resendDeadLetters' | 'discardDeadLetters'>;
}

import { secretChangesQueue, syncQueue } from '@secrets/domain';
import { workers } from '../database-roles.ts';

/** The services that log in to RabbitMQ, each as a user of its own that is named after it. */
export const brokerServices = ['secrets', 'sync-control', ...workers] as const;
export type BrokerService = (typeof brokerServices)[number];

/** What a user may make, publish to and take from: regular expressions on names (https://www.rabbitmq.com/docs/access-control). */
export interface BrokerRights {
  configure: string;
  write: string;
  read: string;
}

const nothing = '^$';
/** What is published goes through the default exchange, whatever its queue: RabbitMQ tells exchanges apart here, not queues. */
const publish = '^amq\\.default$';
const only = (queue: string): string => `^${queue.replaceAll('.', '\\.')}$`;

/** A worker is named after its destination type. */
const queueOf = (worker: string): string => syncQueue(worker.replace('sync-worker-', ''));

/** The rights of each user, all of them. Nobody makes or deletes anything: the queues are made with the users. */
export const brokerRights = {
  secrets: { configure: nothing, write: publish, read: nothing },
  'sync-control': { configure: nothing, write: publish, read: only(secretChangesQueue) },
  ...(Object.fromEntries(
    workers.map((worker) => [worker, { configure: nothing, write: nothing, read: only(queueOf(worker)) }]),
  ) as Record<(typeof workers)[number], BrokerRights>),
} satisfies Record<BrokerService, BrokerRights>;

/** Every queue of the installation. */
export const brokerQueues: readonly string[] = [secretChangesQueue, ...workers.map(queueOf)];

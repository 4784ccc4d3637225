import { deadLetterQueue } from '@secrets/broker';
import { secretChangesQueue, syncQueue } from '@secrets/domain';
import { workers } from '../database-roles.ts';

/** The services that log in to RabbitMQ, each as a user with the service's name. */
export const brokerServices = ['secrets', 'sync-control', ...workers] as const;
export type BrokerService = (typeof brokerServices)[number];

/**
 * Names that a user may declare, publish to and consume, as regular expressions
 * (https://www.rabbitmq.com/docs/access-control).
 */
export interface BrokerRights {
  configure: string;
  write: string;
  read: string;
}

const nothing = '^$';
/** All messages are published through the default exchange. RabbitMQ checks the exchange here, not the queue. */
const publish = '^amq\\.default$';
const only = (...queues: string[]): string => {
  const names = queues.map((queue) => queue.replaceAll('.', '\\.'));
  return names.length === 1 ? `^${names[0]}$` : `^(${names.join('|')})$`;
};

/** A worker is named after its destination type. */
const queueOf = (worker: string): string => syncQueue(worker.replace('sync-worker-', ''));

/** Every queue of the installation. */
export const brokerQueues: readonly string[] = [secretChangesQueue, ...workers.map(queueOf)];

/**
 * All permissions of each user. sync-control sends dead letters of every queue again, or discards them. No user may
 * declare or delete anything: setup creates the queues.
 */
export const brokerRights = {
  secrets: { configure: nothing, write: publish, read: nothing },
  'sync-control': {
    configure: nothing,
    write: publish,
    read: only(secretChangesQueue, ...brokerQueues.map(deadLetterQueue)),
  },
  ...(Object.fromEntries(
    workers.map((worker) => [worker, { configure: nothing, write: nothing, read: only(queueOf(worker)) }]),
  ) as Record<(typeof workers)[number], BrokerRights>),
} satisfies Record<BrokerService, BrokerRights>;

import { createHash, randomBytes } from 'node:crypto';
import { type QueueDefinition, queueDefinitions } from '@secrets/broker';
import {
  type BrokerRights,
  type BrokerService,
  brokerQueues,
  brokerRights,
  brokerServices,
} from './broker-rights.ts';

const vhost = '/';

/** Users, their permissions and the queues, as RabbitMQ imports them (https://www.rabbitmq.com/docs/definitions). */
export interface BrokerDefinitions {
  users: { name: string; password_hash: string; hashing_algorithm: string; tags: string[] }[];
  permissions: ({ user: string; vhost: string } & BrokerRights)[];
  queues: (QueueDefinition & { vhost: string; auto_delete: false })[];
}

/** Returns the definitions of an installation. They contain the passwords as salted hashes. */
export function brokerDefinitions(passwords: Record<BrokerService, string>): BrokerDefinitions {
  return {
    users: brokerServices.map((name) => ({
      name,
      password_hash: passwordHash(passwords[name]),
      hashing_algorithm: 'rabbit_password_hashing_sha256',
      tags: [],
    })),
    permissions: brokerServices.map((user) => ({ user, vhost, ...brokerRights[user] })),
    queues: brokerQueues
      .flatMap(queueDefinitions)
      .map((definition) => ({ ...definition, vhost, auto_delete: false })),
  };
}

/** https://www.rabbitmq.com/docs/passwords#computing-password-hash */
function passwordHash(password: string, salt: Buffer = randomBytes(4)): string {
  const digest = createHash('sha256').update(salt).update(password).digest();
  return Buffer.concat([salt, digest]).toString('base64');
}

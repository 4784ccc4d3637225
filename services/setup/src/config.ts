import { z } from 'zod';

const address = /^[^\s@]+$/;

/** The environment of `keys`. */
export const KeysEnv = z.object({
  /** Holds one folder for each service, and `setup` with what everything else is made from. */
  KEYS_DIR: z.string().min(1).default('/keys'),
  /** Owner of the database: runs the migrations, makes the roles. */
  DATABASE_OWNER: z.string().regex(/^\w+$/).default('postgres'),
  /** Host, port and name of the database, as the services reach it. */
  DATABASE_ADDRESS: z.string().regex(address).default('postgres:5432/secrets'),
  /** Administrator of RabbitMQ: makes the users and queues. */
  BROKER_OWNER: z.string().regex(/^\w+$/).default('setup'),
  /** Host and port of RabbitMQ, as the services reach it. */
  AMQP_ADDRESS: z.string().regex(address).default('rabbitmq:5672'),
  /** Host and port of its management API. */
  BROKER_ADDRESS: z.string().regex(address).default('rabbitmq:15672'),
});
export type KeysEnv = z.infer<typeof KeysEnv>;

/** The environment of `database`. */
export const DatabaseEnv = z.object({
  /** As the owner of the database. */
  DATABASE_URL: z.string().min(1),
  /** The folder `setup` that `keys` has filled: it holds each role's password. */
  SETUP_DIR: z.string().min(1).default('/run/keys'),
});
export type DatabaseEnv = z.infer<typeof DatabaseEnv>;

/** The environment of `broker`. */
export const BrokerEnv = z.object({
  /** RabbitMQ's management API, as its administrator. */
  BROKER_URL: z.url({ protocol: /^https?$/ }),
  /** The folder `setup` that `keys` has filled: it holds each user's password. */
  SETUP_DIR: z.string().min(1).default('/run/keys'),
});
export type BrokerEnv = z.infer<typeof BrokerEnv>;

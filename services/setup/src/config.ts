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
  AMQP_USER: z.string().regex(/^\w+$/).default('secrets'),
  /** Host and port of RabbitMQ, as the services reach it. */
  AMQP_ADDRESS: z.string().regex(address).default('rabbitmq:5672'),
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

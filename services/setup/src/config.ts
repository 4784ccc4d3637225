import { commaList, toggle } from '@secrets/config';
import { keyServiceEnv } from '@secrets/service';
import { z } from 'zod';

const address = /^[^\s@]+$/;
const addressWith = (scheme: string) => new RegExp(`^(?:${scheme}://)?[^\\s@/?]+(?:\\?[^\\s@]+)?$`);

/** The environment of `keys`. */
export const KeysEnv = z.object({
  /** Contains one folder per service, and `setup` with the secrets from which the others are derived. */
  KEYS_DIR: z.string().min(1).default('/keys'),
  /**
   * Creates and renews certificates with which the services, PostgreSQL and RabbitMQ of the Compose stack reach each other over
   * TLS, and changes the URLs that this command has written without it.
   */
  INTERNAL_TLS: toggle.default(false),
  /** Names and addresses by which clients reach the gateway, for its certificate. */
  ALLOWED_HOSTS: commaList.default([]),
  /** Owner of the database, who runs the migrations and creates the roles. */
  DATABASE_OWNER: z.string().regex(/^\w+$/).default('postgres'),
  /**
   * Host, port and name of the database, as seen by the services, with parameters such as `?sslmode=verify-full`; that of
   * Compose by default.
   */
  DATABASE_ADDRESS: z.string().regex(address).optional(),
  /** Administrator of RabbitMQ, who creates the users and queues. */
  BROKER_OWNER: z.string().regex(/^\w+$/).default('setup'),
  /** Host and port of RabbitMQ, as seen by the services; over TLS if `amqps://` precedes them, also with `?cacertfile=`. */
  AMQP_ADDRESS: z.string().regex(addressWith('amqps?')).optional(),
  /** Host and port of its management API; over TLS if `https://` precedes them. */
  BROKER_ADDRESS: z.string().regex(addressWith('https?')).optional(),
});
export type KeysEnv = z.infer<typeof KeysEnv>;

/** The environment of `database`. */
export const DatabaseEnv = z.object({
  /** With the name and password of the database's owner. */
  DATABASE_URL: z.string().min(1),
  /** The folder `setup` that `keys` has filled: it contains each role's password. */
  SETUP_DIR: z.string().min(1).default('/run/keys'),
});
export type DatabaseEnv = z.infer<typeof DatabaseEnv>;

/** The environment of `rows` and `bind`. */
export const RowsEnv = z.object({
  /** With the name and password of the database's owner. */
  DATABASE_URL: z.string().min(1),
  /** The row key of login. */
  ROW_KEY_FILE: z.string().min(1),
  ...keyServiceEnv,
});

/** The environment of `check-standby`. */
export const StandbyEnv = z.object({
  /** Leads to the server itself, with the name and password of the database's owner. */
  DATABASE_URL: z.string().min(1),
  /** The seal keys of login, secrets and sync-control. */
  SEAL_KEY_FILES: commaList,
  /** The row key of login. */
  ROW_KEY_FILE: z.string().min(1),
  ...keyServiceEnv,
});

/** The environment of `seal-keys`. */
export const SealKeysEnv = z.object(keyServiceEnv);

/** The environment of `recover`. Without `DATABASE_URL`, it uses the embedded database that runs in `DATA_DIR`. */
export const RecoverEnv = z.object({
  /** With the name and password of the database's owner. */
  DATABASE_URL: z.string().min(1).optional(),
  /** The row key of login; by default, the one in `DATA_DIR`. */
  ROW_KEY_FILE: z.string().min(1).optional(),
  DATA_DIR: z.string().min(1).default('./.data'),
  /** A file that does not exist yet, for the token. */
  RECOVERY_FILE: z.string().min(1).default('recovery-token'),
  ...keyServiceEnv,
});
export type RecoverEnv = z.infer<typeof RecoverEnv>;

/** The environment of `broker`. */
export const BrokerEnv = z.object({
  /** RabbitMQ's management API, with the administrator's name and password. */
  BROKER_URL: z.url({ protocol: /^https?$/ }),
  /** The folder `setup` that `keys` has filled: it contains each user's password. */
  SETUP_DIR: z.string().min(1).default('/run/keys'),
});
export type BrokerEnv = z.infer<typeof BrokerEnv>;

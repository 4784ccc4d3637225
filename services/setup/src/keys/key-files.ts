import { deriveInternalKeys } from '@secrets/caller';
import { federatedTypes, importedTypes, workerOf } from '@secrets/domain';
import { type BrokerService, brokerServices } from '../broker/broker-rights.ts';
import type { KeysEnv } from '../config.ts';
import { type DatabaseService, databaseServices, roleOf, workers } from '../database-roles.ts';
import { type Installation, setupFolder } from './installation.ts';

/** One file in one service's folder. */
export interface KeyFile {
  folder: string;
  name: string;
  content: string;
}

type Directions = readonly (readonly [from: string, to: string])[];

/** Each worker whose destinations may use identity tokens requests them as itself, so that it gets none for another type. */
const tokenRequests: Directions = federatedTypes.map((type) => [workerOf(type), 'login']);

/** Each worker whose store returns values writes what it imports. */
const imports: Directions = importedTypes.map((type) => [workerOf(type), 'secrets']);

/** The calls between services. A service has only the keys of the calls that it makes or receives. */
const directions: Record<string, Directions> = {
  gateway: [
    ['gateway', 'login'],
    ['gateway', 'secrets'],
    ['gateway', 'sync-control'],
    ['login', 'batch-tokens'],
  ],
  login: [
    ['gateway', 'login'],
    ['login', 'batch-tokens'],
  ],
  secrets: [
    ['gateway', 'secrets'],
    ['sync-control', 'secrets'],
  ],
  'sync-control': [
    ['gateway', 'sync-control'],
    ['sync-control', 'secrets'],
  ],
  ...Object.fromEntries(tokenRequests.map((direction) => [direction[0], [direction]])),
};

/** Who calls whom. */
export const callsBetweenServices: Directions = [
  ...Object.values(directions)
    .flat()
    .filter(([, to]) => to in directions),
  ...imports,
];

/** Returns all files that the services read from their `/run/keys`, derived from the installation's secrets. */
export function keyFiles(installation: Installation, env: KeysEnv): KeyFile[] {
  const addresses = addressesIn(env);
  return [
    ...databaseServices.map((service) => databaseUrl(service, installation, addresses)),
    ...brokerServices.map((service) => amqpUrl(service, installation, addresses)),
    ...Object.entries(directions).map(([service, needed]) => internalKey(service, needed, installation)),
    // In a file of its own: `internal.key` of an older installation is not changed.
    { ...internalKey('login', tokenRequests, installation), name: 'worker.key' },
    { ...internalKey('secrets', imports, installation), name: 'worker.key' },
    ...imports.map((direction) => ({
      ...internalKey(direction[0], [direction], installation),
      name: 'secrets.key',
    })),
    ...sealKeys(installation),
    ...['gateway', 'login', 'secrets', 'sync-control'].map((folder) => ({
      folder,
      name: 'row.key',
      content: `rows1:${installation.rowKey}\n`,
    })),
    { folder: 'login', name: 'root-token', content: `${installation.rootToken}\n` },
    { folder: 'postgres', name: 'password', content: `${installation.ownerPassword}\n` },
    { folder: 'rabbitmq', name: 'password', content: `${installation.brokerOwnerPassword}\n` },
    {
      folder: setupFolder,
      name: 'database-url',
      content: `${urlTo('postgres', addresses.database, env.DATABASE_OWNER, installation.ownerPassword)}\n`,
    },
    {
      folder: setupFolder,
      name: 'broker-url',
      content: `${urlTo('http', addresses.management, env.BROKER_OWNER, installation.brokerOwnerPassword)}\n`,
    },
  ];
}

/** Where the servers of the Compose stack are reached, with certificates of the installation's authority, or without TLS. */
const withTls = {
  database: 'postgres:5432/secrets?sslmode=verify-full&sslrootcert=/run/keys/ca.crt',
  broker: 'amqps://rabbitmq:5671?cacertfile=/run/keys/ca.crt',
  management: 'https://rabbitmq:15671',
};
const withoutTls = {
  database: 'postgres:5432/secrets',
  broker: 'rabbitmq:5672',
  management: 'rabbitmq:15672',
};
type Addresses = typeof withTls;

function addressesIn(env: KeysEnv): Addresses {
  const usual = env.INTERNAL_TLS ? withTls : withoutTls;
  return {
    database: env.DATABASE_ADDRESS ?? usual.database,
    broker: env.AMQP_ADDRESS ?? usual.broker,
    management: env.BROKER_ADDRESS ?? usual.management,
  };
}

const databaseUrl = (
  service: DatabaseService,
  { rolePasswords }: Installation,
  { database }: Addresses,
): KeyFile => ({
  folder: service,
  name: 'database-url',
  content: `postgres://${roleOf(service)}:${rolePasswords[service]}@${database}\n`,
});

const amqpUrl = (
  service: BrokerService,
  { brokerPasswords }: Installation,
  { broker }: Addresses,
): KeyFile => ({
  folder: service,
  name: 'amqp-url',
  content: `${urlTo('amqp', broker, service, brokerPasswords[service])}\n`,
});

/** A URL with a user, of the scheme that an address begins with, or else of this one. */
function urlTo(scheme: string, address: string, user: string, password: string): string {
  const [, own = scheme, host] = /^(?:(\w+):\/\/)?(.*)$/.exec(address)!;
  return `${own}://${user}:${encodeURIComponent(password)}@${host}`;
}

const internalKey = (folder: string, needed: Directions, installation: Installation): KeyFile => ({
  folder,
  name: 'internal.key',
  content: deriveInternalKeys(Buffer.from(installation.internalKey, 'base64'), needed),
});

/** Only workers can open both secret values and destination credentials. */
function sealKeys({ sealKeys: { login, secrets, sync } }: Installation): KeyFile[] {
  const name = 'seal.key';
  const ofSecrets = `secrets1:${secrets}\n`;
  const ofSync = `sync1:${sync}\n`;
  return [
    { folder: 'login', name, content: `login1:${login}\n` },
    { folder: 'secrets', name, content: ofSecrets },
    { folder: 'sync-control', name, content: ofSync },
    ...workers.map((folder) => ({ folder, name, content: ofSecrets + ofSync })),
  ];
}

import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { newToken } from '@secrets/access';
import { type DatabaseService, databaseServices, roleOf } from '../database-roles.ts';
import { readIfPresent, writeOnce } from './write-once.ts';

/** The folder of what every other file is made from; the one to keep a copy of. */
export const setupFolder = 'setup';

const key = () => randomBytes(32).toString('base64');
const password = () => randomBytes(24).toString('base64url'); // needs no escaping in a URL

/** What an installation draws at random, once. */
export interface Installation {
  /** From which each direction's key between two services is derived. */
  internalKey: string;
  /** Three keys, so that a service opens only what is its own: 32 bytes in base64. */
  sealKeys: { login: string; secrets: string; sync: string };
  rootToken: string;
  ownerPassword: string;
  amqpPassword: string;
  rolePasswords: Record<DatabaseService, string>;
}

/** Reads the installation's secrets from its folder, and draws those that are missing. */
export function openInstallation(folder: string): Installation {
  const drawn = (name: string, draw: () => string) => writeOnce(join(folder, name), `${draw()}\n`).trim();
  return {
    internalKey: drawn('internal.key', key),
    sealKeys: {
      login: drawn('seal-login.key', key),
      secrets: drawn('seal-secrets.key', key),
      sync: drawn('seal-sync.key', key),
    },
    rootToken: drawn('root-token', () => newToken().reveal()),
    ownerPassword: drawn('owner.password', password),
    amqpPassword: drawn('amqp.password', password),
    rolePasswords: eachRole((service) => drawn(passwordFile(service), password)),
  };
}

/** Each role's password, as `keys` has drawn them. Throws, naming the file, when one is missing. */
export function readRolePasswords(folder: string): Record<DatabaseService, string> {
  return eachRole((service) => {
    const file = join(folder, passwordFile(service));
    const text = readIfPresent(file)?.trim();
    if (text === undefined || text === '')
      throw new Error(`${file} is missing; run the command "keys" first`);
    return text;
  });
}

const passwordFile = (service: DatabaseService): string => `${roleOf(service)}.password`;

const eachRole = (passwordOf: (service: DatabaseService) => string) =>
  Object.fromEntries(databaseServices.map((service) => [service, passwordOf(service)])) as Record<
    DatabaseService,
    string
  >;

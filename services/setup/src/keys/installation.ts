import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { newToken } from '@secrets/access';
import { createSecretFile, readSecretFile } from '@secrets/seal';
import { type BrokerService, brokerServices } from '../broker/broker-rights.ts';
import { type DatabaseService, databaseServices, roleOf } from '../database-roles.ts';

/** The folder with the secrets from which every other file is derived. It must be backed up. */
export const setupFolder = 'setup';

const key = () => randomBytes(32).toString('base64');
/** A file of an older installation lacks the word, and keeps lacking it. */
const boundKey = () => `${key()} bound`;
const internalKeyFile = 'internal.key';
const password = () => randomBytes(24).toString('base64url'); // needs no escaping in a URL

/** The random secrets of an installation, generated once. */
export interface Installation {
  /** The key for each pair of services is derived from this one. */
  internalKey: string;
  /** Three keys, so that a service opens only its own data; 32 bytes in base64, and `bound` after a bound key. */
  sealKeys: { login: string; secrets: string; sync: string };
  /** Binds rows; 32 bytes in base64, and `bound`, unless the installation is older than the key. */
  rowKey: string;
  rootToken: string;
  ownerPassword: string;
  brokerOwnerPassword: string;
  rolePasswords: Record<DatabaseService, string>;
  brokerPasswords: Record<BrokerService, string>;
}

/** Reads the installation's secrets from its folder, and generates missing ones. */
export function openInstallation(folder: string): Installation {
  const generated = (name: string, generate: () => string) =>
    createSecretFile(join(folder, name), () => `${generate()}\n`, { mode: 0o400 }).trim();
  const isOlder = existsSync(join(folder, internalKeyFile));
  return {
    rowKey: generated('row.key', isOlder ? key : boundKey), // first: once another file exists, the installation counts as older
    internalKey: generated(internalKeyFile, key),
    sealKeys: {
      login: generated('seal-login.key', key),
      secrets: generated('seal-secrets.key', key),
      sync: generated('seal-sync.key', boundKey),
    },
    rootToken: generated('root-token', () => newToken().reveal()),
    ownerPassword: generated('owner.password', password),
    brokerOwnerPassword: generated('broker-owner.password', password),
    rolePasswords: passwordsOf(databaseServices, (service) => generated(roleFile(service), password)),
    brokerPasswords: passwordsOf(brokerServices, (service) => generated(brokerUserFile(service), password)),
  };
}

/** Returns the roles' passwords that `keys` generated. Throws an error with the file's name if one is missing. */
export const readRolePasswords = (folder: string): Record<DatabaseService, string> =>
  passwordsOf(databaseServices, (service) => readGenerated(join(folder, roleFile(service))));

/** Returns the passwords of the RabbitMQ users, like `readRolePasswords`. */
export const readBrokerPasswords = (folder: string): Record<BrokerService, string> =>
  passwordsOf(brokerServices, (service) => readGenerated(join(folder, brokerUserFile(service))));

function readGenerated(file: string): string {
  const text = readSecretFile(file)?.trim();
  if (text === undefined || text === '') throw new Error(`${file} is missing; run the command "keys" first`);
  return text;
}

const roleFile = (service: DatabaseService): string => `${roleOf(service)}.password`;
const brokerUserFile = (service: BrokerService): string => `broker-${service}.password`;

const passwordsOf = <Name extends string>(names: readonly Name[], passwordOf: (name: Name) => string) =>
  Object.fromEntries(names.map((name) => [name, passwordOf(name)])) as Record<Name, string>;

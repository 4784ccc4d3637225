import type { KeysEnv } from '../../config.ts';
import { databaseServices } from '../../database-roles.ts';
import { callsBetweenServices as calls } from '../key-files.ts';
import type { CertificateRequest } from './issue.ts';

/** By which programs on the same machine reach a server. */
const localNames = ['localhost', '127.0.0.1', '::1'];

/** Folders of everything that connects to PostgreSQL, to RabbitMQ or to another service, and of these two servers. */
export const authorityHolders: readonly string[] = [...databaseServices, 'postgres', 'rabbitmq'];

/** The certificate of each folder that needs one. */
export function certificateRequests({ ALLOWED_HOSTS }: KeysEnv): Record<string, CertificateRequest> {
  const callers = new Set(calls.map(([from]) => from));
  const servers = new Set(calls.map(([, to]) => to));
  const extraNames: Record<string, readonly string[]> = {
    gateway: [...localNames, ...ALLOWED_HOSTS],
    postgres: localNames,
    rabbitmq: localNames,
  };
  const folders = new Set([...callers, ...servers, ...Object.keys(extraNames)]);
  return Object.fromEntries(
    [...folders].map((folder) => [
      folder,
      {
        names: [...new Set([folder, ...(extraNames[folder] ?? [])])],
        isServer: servers.has(folder) || folder in extraNames,
        isClient: callers.has(folder),
      },
    ]),
  );
}

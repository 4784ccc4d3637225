import { existsSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** Variables whose values contain a secret, and therefore need not be in the environment itself. */
const secretVariables = ['DATABASE_URL', 'AMQP_URL', 'AZURE_CLIENT_SECRET'];

/** Variables that need not be set: their file may be absent from a folder that exists, as that of an optional Secret is. */
const optional: readonly string[] = ['AZURE_CLIENT_SECRET'];

/** Returns the environment with variables read from files: `DATABASE_URL` from the file that `DATABASE_URL_FILE` names. */
export function withFiles(
  env: Record<string, string | undefined>,
  names: readonly string[] = secretVariables,
): Record<string, string | undefined> {
  const fromFiles = names.flatMap((name) => {
    const file = env[`${name}_FILE`];
    if (file === undefined || file === '') return [];
    if (optional.includes(name) && !existsSync(file) && existsSync(dirname(file))) return [];
    return [[name, readFileSync(file, 'utf8').trim()] as const];
  });
  return { ...env, ...Object.fromEntries(fromFiles) };
}

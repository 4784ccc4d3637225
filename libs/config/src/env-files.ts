import { readFileSync } from 'node:fs';

/** Variables whose values contain a secret, and therefore need not be in the environment itself. */
const secretVariables = ['DATABASE_URL', 'AMQP_URL', 'AZURE_CLIENT_SECRET'];

/** Returns the environment with variables read from files: `DATABASE_URL` from the file that `DATABASE_URL_FILE` names. */
export function withFiles(
  env: Record<string, string | undefined>,
  names: readonly string[] = secretVariables,
): Record<string, string | undefined> {
  const fromFiles = names.flatMap((name) => {
    const file = env[`${name}_FILE`];
    return file === undefined || file === '' ? [] : [[name, readFileSync(file, 'utf8').trim()] as const];
  });
  return { ...env, ...Object.fromEntries(fromFiles) };
}

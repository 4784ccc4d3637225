import { readFileSync } from 'node:fs';

/**
 * Returns the environment with variables read from files: `DATABASE_URL` from the file that `DATABASE_URL_FILE` names. For
 * values that contain a password and therefore should not be in the environment itself.
 */
export function withFiles(
  env: Record<string, string | undefined>,
  names: readonly string[] = ['DATABASE_URL', 'AMQP_URL'],
): Record<string, string | undefined> {
  const fromFiles = names.flatMap((name) => {
    const file = env[`${name}_FILE`];
    return file === undefined || file === '' ? [] : [[name, readFileSync(file, 'utf8').trim()] as const];
  });
  return { ...env, ...Object.fromEntries(fromFiles) };
}

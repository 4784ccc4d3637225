import { readFileSync } from 'node:fs';

/**
 * Takes variables from files where the environment names a file instead: `DATABASE_URL_FILE` gives `DATABASE_URL`.
 * For values that hold a password and so should not stand in an environment.
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

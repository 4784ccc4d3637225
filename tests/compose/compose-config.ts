import { execFileSync, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { test } from '@jest/globals';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** `test`, if `docker compose` is installed. It needs no Docker engine to read its files. */
export const withCompose =
  spawnSync('docker', ['compose', 'version']).status === 0
    ? test
    : (title: string, _run: () => void) =>
        test.skip(`${title}: docker compose is not installed`, () => undefined);

/** Runs `docker compose` in the root of the repository without the variables that are under test, and returns its output. */
export function compose(args: readonly string[], env: Record<string, string> = {}): string {
  const { TLS_FOLDER: _tls, INTERNAL_TLS: _internal, COMPOSE_PROFILES: _profiles, ...others } = process.env;
  const options = { cwd: root, env: { ...others, ...env }, encoding: 'utf8' } as const;
  return execFileSync('docker', ['compose', ...args], options);
}

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/** Lists the test files that Jest's arguments select. */
export function selectedTests(jest: string, args: readonly string[]): string[] {
  const selecting = args.filter((arg) => !/^--(json|outputFile)/.test(arg));
  const { stdout } = spawnSync(process.execPath, [jest, '--listTests', ...selecting], { encoding: 'utf8' });
  return stdout.split('\n').filter((path) => path.endsWith('.test.ts'));
}

/** The packages through which tests use a server. */
export const onPostgres = ['@secrets/db', '@secrets/schemas', '@secrets/broker'];
export const onRabbit = ['@secrets/broker'];

/** Returns whether the package of a test is one of these, or names one of them in its package.json. */
export const needsOneOf = (names: readonly string[], tests: readonly string[]): boolean =>
  tests.some((test) => names.some((name) => packageOf(test).includes(`"${name}"`)));

function packageOf(test: string): string {
  const [part = '', name = ''] = relative(process.cwd(), test).split('/');
  if (part === 'tests' && name === 'declarations') return ''; // compares files
  const own = join(part, name, 'package.json');
  return readFileSync(existsSync(own) ? own : 'package.json', 'utf8');
}

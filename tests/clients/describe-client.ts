import { readFileSync } from 'node:fs';
import { describe, test } from '@jest/globals';
import { type ClientName, clientFolder, isInstalled } from './install/install.ts';

/** Describes the tests of a client with the folder in which it is installed. Without it, one skipped test says so. */
export function describeClient(name: ClientName, title: string, tests: (folder: string) => void): void {
  if (isInstalled(name)) describe(title, () => tests(clientFolder(name)));
  else test.skip(`${title}: the client ${name} is not installed; npm run clients says why`, () => undefined);
}

/** Returns the names of the tests in a file of another language: the first group of each match. */
export function testNames(file: string, pattern: RegExp): string[] {
  const text = readFileSync(new URL(file, import.meta.url), 'utf8');
  return [...text.matchAll(pattern)].map(([, name]) => name!);
}

/** Turns a test's name into its title: `test_reads_a_secret` and `TestReadsASecret` become `reads a secret`. */
export const titleOf = (name: string): string =>
  name
    .replace(/^test_?/i, '')
    .replace(/(?<=[a-z0-9])(?=[A-Z])|(?<=A)(?=[A-Z][a-z])|_/g, ' ')
    .toLowerCase()
    .trim();

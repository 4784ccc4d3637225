import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, test } from '@jest/globals';

const root = new URL('..', import.meta.url).pathname;
const composing = ['standalone', 'setup']; // they put services together: they alone may import them
const packages = ['libs', 'services'].flatMap((kind) =>
  readdirSync(join(root, kind)).map((folder) => {
    const manifest = JSON.parse(readFileSync(join(root, kind, folder, 'package.json'), 'utf8'));
    return {
      kind,
      folder,
      name: String(manifest.name).replace('@secrets/', ''),
      dependencies: Object.keys(manifest.dependencies ?? {}),
      files: sources(join(root, kind, folder, 'src')),
    };
  }),
);
const services = packages.filter(({ kind }) => kind === 'services').map(({ name }) => name);

function sources(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((file) => join(folder, file))
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && statSync(file).isFile());
}

const importsOf = (file: string): string[] =>
  [...readFileSync(file, 'utf8').matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map((match) => match[1]!);

const ours = (specifiers: string[]): string[] =>
  specifiers.filter((one) => one.startsWith('@secrets/')).map((one) => one.split('/')[1]!);

describe.each(packages)('$kind/$folder', ({ kind, folder, name, dependencies, files }) => {
  test('imports no service, unless it composes them', () => {
    const imported = ours(files.flatMap(importsOf)).filter((one) => services.includes(one));
    if (!composing.includes(name)) expect(imported).toEqual([]);
  });

  test('declares what it imports, and stays inside its folder', () => {
    for (const file of files) {
      for (const specifier of importsOf(file)) {
        if (specifier.startsWith('.')) {
          const target = relative(join(root, kind, folder), join(file, '..', specifier));
          expect({ file, specifier, leaves: target.startsWith('..') }).toMatchObject({ leaves: false });
        } else if (specifier.startsWith('@secrets/') && specifier.split('/')[1] !== name) {
          expect(dependencies).toContain(specifier.split('/').slice(0, 2).join('/'));
        }
      }
    }
  });
});

test('libs have no circles, and services point to libs only', () => {
  const edges = new Map(packages.map(({ name, dependencies }) => [name, ours(dependencies)]));
  const visit = (name: string, path: string[]): void => {
    expect(path).not.toContain(name);
    for (const next of edges.get(name) ?? []) visit(next, [...path, name]);
  };
  for (const { name } of packages) visit(name, []);
});

test('domain and destinations do no I/O', () => {
  for (const { name, files } of packages.filter(({ name }) => ['domain', 'destinations'].includes(name))) {
    const allowed = /^(\.|zod$|@secrets\/domain$|node:crypto$|parse-duration$)/;
    expect({ name, foreign: files.flatMap(importsOf).filter((one) => !allowed.test(one)) }).toEqual({
      name,
      foreign: [],
    });
  }
});

test("a cloud's SDK stands in one worker alone", () => {
  const sdk = /^(@aws-sdk|@azure|@google-cloud|@octokit)\//;
  const holders = packages
    .filter(({ dependencies }) => dependencies.some((one) => sdk.test(one)))
    .map(({ name }) => name);
  expect(holders.filter((name) => !name.startsWith('sync-worker-') && name !== 'login')).toEqual([]);
});

test('the environment is read in main and config alone', () => {
  const readers = packages
    .flatMap(({ files }) => files)
    .filter((file) => /process\.env/.test(readFileSync(file, 'utf8')))
    .map((file) => relative(root, file));
  const allowed = /(main|config|testing|run-worker|conformance)\.ts$/;
  expect(readers.filter((file) => !allowed.test(file))).toEqual([]);
});

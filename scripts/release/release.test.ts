import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { digestsOf, provenanceOf, requireSame, writeArchives, writeStatements } from './artifacts.ts';
import { notesOf } from './changelog.ts';
import { sbomOf } from './sbom.ts';

const source = { version: '1.2.3', commit: 'c'.repeat(40), committedAt: 1_700_000_000 };
const builder = {
  repository: 'https://git.example.test/team/secrets-service',
  materials: new Map([['pnpm-lock.yaml', 'aa']]),
  images: new Map([['secrets-service:1.2.3', 'bb']]),
};

describe('the notes of a release', () => {
  const changelog =
    '# Changelog\n\n## 1.3.0 (unreleased)\n\n- more\n\n## 1.2.3 (2026-11-29)\n\n- one\n- two\n\n## 1.2.2\n';

  test('are the section of its version', () => {
    expect(notesOf(changelog, '1.2.3', { isDryRun: false })).toBe('- one\n- two\n');
    expect(notesOf(changelog, '1.3.0', { isDryRun: true })).toBe('- more\n');
  });

  test.each([
    ['1.2', /no section 1\.2$/],
    ['1.3.0', /write the date/],
    ['1.2.2', /says nothing/],
  ])('cannot be those of %s', (version, reason) => {
    expect(() => notesOf(changelog, version, { isDryRun: false })).toThrow(reason);
  });
});

describe('the files of a release', () => {
  let folder: string;
  let dist: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'release-'));
    dist = join(folder, 'dist');
    mkdirSync(join(dist, 'gateway/services'), { recursive: true });
    mkdirSync(join(dist, 'bench'));
    writeFileSync(join(dist, 'gateway/services/main.js'), 'run();\n', { mode: 0o600 });
    writeFileSync(join(dist, 'gateway/sbom.cdx.json'), '{}\n');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const archives = (name: string) => {
    const target = join(folder, name);
    mkdirSync(target);
    writeArchives(dist, target, source);
    return target;
  };

  test('are the same for the same sources, whenever they are built', () => {
    const first = digestsOf(archives('first'));
    utimesSync(join(dist, 'gateway/services/main.js'), 1, 1);
    expect(digestsOf(archives('second'))).toEqual(first);
    expect([...first.keys()]).toEqual([
      'secrets-service-gateway-1.2.3.cdx.json',
      'secrets-service-gateway-1.2.3.tar.gz',
    ]);
    writeFileSync(join(dist, 'gateway/services/main.js'), 'run(1);\n');
    expect(() => requireSame(first, digestsOf(archives('third')))).toThrow(
      'not reproducible: secrets-service-gateway-1.2.3.tar.gz',
    );
  });

  test('have checksums, and a statement of what they were built from', () => {
    const target = archives('all');
    const before = digestsOf(target);
    writeStatements(target, source, builder);
    const after = digestsOf(target);
    expect([...after.keys()]).toEqual(['SHA256SUMS', 'provenance.json', ...before.keys()]);
    const { subject, predicate } = provenanceOf(before, source, builder);
    expect(subject.map(({ name }) => name)).toEqual([...before.keys(), 'secrets-service:1.2.3']);
    expect(predicate.buildDefinition.resolvedDependencies).toEqual([
      { uri: `git+${builder.repository}`, digest: { gitCommit: source.commit } },
      { name: 'pnpm-lock.yaml', digest: { sha256: 'aa' } },
    ]);
  });
});

test('a bill of materials names each package once, with its licence', () => {
  const left = { name: '@scope/left', version: '1.0.0', license: 'MIT' };
  const right = { name: 'right', version: '2.0.0', license: '(MIT OR Apache-2.0)' };
  const packages = [right, left, { ...left }];
  const { components, specVersion } = JSON.parse(sbomOf({ name: 'program', version: '1.2.3' }, packages));
  expect(specVersion).toBe('1.6');
  expect(components).toMatchObject([
    { purl: 'pkg:npm/%40scope/left@1.0.0', licenses: [{ license: { id: 'MIT' } }] },
    { purl: 'pkg:npm/right@2.0.0', licenses: [{ expression: '(MIT OR Apache-2.0)' }] },
  ]);
});

test('an image of every program is built', () => {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const bake = readFileSync(join(root, 'docker-bake.hcl'), 'utf8');
  const [, list = ''] = /service = \[([^\]]+)\]/.exec(bake) ?? [];
  const services = readdirSync(join(root, 'services')).filter((name) =>
    existsSync(join(root, 'services', name, 'src/main.ts')),
  );
  expect(
    [...list.matchAll(/"([^"]+)"/g)]
      .map(([, name]) => name)
      .concat('standalone')
      .sort(),
  ).toEqual(services);
});

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The sources of a release. */
export interface ReleaseSource {
  version: string;
  /** The full hash of the commit. */
  commit: string;
  /** Seconds since 1970, of the commit: the time of every file in an archive. */
  committedAt: number;
}

/** The digest of each file of a release, by its name. */
export type Digests = ReadonlyMap<string, string>;

/** SHA-256 of a file, in hex. */
export const digestOf = (path: string): string =>
  createHash('sha256').update(readFileSync(path)).digest('hex');

/**
 * Writes one archive and one bill of materials for each program in `dist` to a folder. The same sources have the same archives:
 * GNU tar sorts the names, and every file has the time of the commit.
 */
export function writeArchives(dist: string, folder: string, { version, committedAt }: ReleaseSource): void {
  for (const name of programsIn(dist)) {
    const base = `secrets-service-${name}-${version}`;
    const tar = ['--sort=name', `--mtime=@${committedAt}`, '--owner=0', '--group=0', '--numeric-owner'];
    const form = ['--format=gnu', '--mode=u+rwX,go+rX,go-w', '--use-compress-program=gzip -n'];
    execFileSync('tar', [...tar, ...form, '-cf', join(folder, `${base}.tar.gz`), '-C', dist, name]);
    cpSync(join(dist, name, 'sbom.cdx.json'), join(folder, `${base}.cdx.json`));
  }
}

/** Writes the command line to a folder. */
export const writeCommandLine = (dist: string, folder: string): void =>
  cpSync(join(dist, 'secrets-sync.mjs'), join(folder, 'secrets-sync.mjs'));

/** The names of the programs that scripts/bundle.mjs has built. */
const programsIn = (dist: string): string[] =>
  readdirSync(dist, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && readdirSync(join(dist, entry.name)).includes('sbom.cdx.json'))
    .map(({ name }) => name);

export const digestsOf = (folder: string): Digests =>
  new Map(
    readdirSync(folder)
      .sort()
      .map((name) => [name, digestOf(join(folder, name))]),
  );

/** Throws, with the names, if two builds of the same sources differ. */
export function requireSame(first: Digests, second: Digests): void {
  const names = new Set([...first.keys(), ...second.keys()]);
  const differing = [...names].filter((name) => first.get(name) !== second.get(name));
  if (differing.length > 0) throw new Error(`not reproducible: ${differing.join(', ')}`);
}

/** The rest of what a release was built from and by. */
export interface Builder {
  /** Where the sources are published. */
  repository: string;
  /** Digests of the packages and images that it was built from, by name. */
  materials: Digests;
  /** Digests of images, by name. */
  images: Digests;
}

/**
 * Writes `provenance.json`, a statement about every file and image in the form of https://slsa.dev/spec/v1.0/provenance, and
 * `SHA256SUMS`, which `sha256sum --check` reads.
 */
export function writeStatements(folder: string, source: ReleaseSource, builder: Builder): void {
  const statement = provenanceOf(digestsOf(folder), source, builder);
  writeFileSync(join(folder, 'provenance.json'), `${JSON.stringify(statement, null, 1)}\n`);
  const sums = [...digestsOf(folder)].map(([name, digest]) => `${digest}  ${name}\n`);
  writeFileSync(join(folder, 'SHA256SUMS'), sums.join(''));
}

export function provenanceOf(
  files: Digests,
  { version, commit }: ReleaseSource,
  { repository, materials, images }: Builder,
) {
  const described = (digests: Digests) =>
    [...digests].map(([name, digest]) => ({ name, digest: { sha256: digest } }));
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [...described(files), ...described(images)],
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: `${repository}/blob/${commit}/scripts/release/release.ts`,
        externalParameters: { version },
        resolvedDependencies: [
          { uri: `git+${repository}`, digest: { gitCommit: commit } },
          ...described(materials),
        ],
      },
      runDetails: { builder: { id: `${repository}#scripts/release` } },
    },
  };
}

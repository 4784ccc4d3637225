// Builds a release into dist/release/<version>: an archive and a bill of materials (CycloneDX) for each program, the notes from
// CHANGELOG.md, checksums, provenance (SLSA) and a signature. Then it tags the commit. Nothing is published. Before that, the
// gate must pass, and an upgrade from the last tag (tests/outages/upgrade).
//
//   npm run release -- --dry-run                   without gate, upgrade, images, signature and tag; for any commit
//   npm run release -- --sign-with ~/.ssh/release  the key of a maintainer, as `ssh-keygen -Y sign` takes it
//   npm run release -- --sign-with … --images      also builds the images; needs Docker
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { productVersion } from '../../services/gateway/src/local/versions.ts';
import {
  type Digests,
  digestOf,
  digestsOf,
  type ReleaseSource,
  requireSame,
  writeArchives,
  writeCommandLine,
  writeStatements,
} from './artifacts.ts';
import { notesOf } from './changelog.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const dist = join(root, 'dist');
const baseImage = 'node:24-slim';

const { values } = parseArgs({
  options: {
    'dry-run': { type: 'boolean', default: false },
    images: { type: 'boolean', default: false },
    'sign-with': { type: 'string' },
  },
});
const isDryRun = values['dry-run'];

const say = (line: string): void => void process.stdout.write(`release: ${line}\n`);
const git = (...args: string[]): string => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
const run = (command: string, args: string[], env: Record<string, string> = {}): void =>
  void execFileSync(command, args, {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, ...env },
  });

/** Where the sources are published; a clone that comes from nowhere can only be tried. */
function repositoryOf(): string {
  if (git('remote') !== '') return git('remote', 'get-url', 'origin').replace(/\.git$/, '');
  if (isDryRun) return 'file:unpublished';
  throw new Error('git has no remote `origin`, which the provenance names');
}

function sourceOf(): ReleaseSource {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  if (version !== productVersion)
    throw new Error(
      `package.json is ${version}, and services/gateway/src/local/versions.ts ${productVersion}`,
    );
  if (isDryRun) return { version, ...head() };
  if (git('status', '--porcelain') !== '') throw new Error('the tree has changes that are not committed');
  if (git('tag', '--list', tagOf(version)) !== '') throw new Error(`the tag ${tagOf(version)} exists`);
  if (values['sign-with'] === undefined) throw new Error('--sign-with is needed, or --dry-run');
  return { version, ...head() };
}

const head = () => ({
  commit: git('rev-parse', 'HEAD'),
  committedAt: Number(git('show', '--no-patch', '--format=%ct')),
});
const tagOf = (version: string): string => `v${version}`;

/** Builds all programs, and returns the digests of their archives. */
function buildArchives(folder: string, source: ReleaseSource): Digests {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  execFileSync(process.execPath, ['scripts/bundle.mjs'], { cwd: root });
  writeArchives(dist, folder, source);
  writeCommandLine(dist, folder);
  return digestsOf(folder);
}

/** Builds all images on the newest base image, whose digest is recorded, and returns their digests. */
function buildImages(
  { version, commit }: ReleaseSource,
  repository: string,
): { images: Digests; base: string } {
  const ask = (...args: string[]) => execFileSync('docker', args, { encoding: 'utf8' }).trim();
  const base = ask('buildx', 'imagetools', 'inspect', baseImage, '--format', '{{.Manifest.Digest}}');
  const env = { VERSION: version, REVISION: commit, SOURCE: repository, NODE_IMAGE: `${baseImage}@${base}` };
  const metadata = join(dist, 'release/images.json');
  run('docker', ['buildx', 'bake', '--metadata-file', metadata], env);
  const built = JSON.parse(readFileSync(metadata, 'utf8')) as Record<
    string,
    { 'image.name': string; 'containerimage.digest': string }
  >;
  const images = Object.values(built).map(
    (one) => [one['image.name'], withoutAlgorithm(one['containerimage.digest'])] as const,
  );
  return { images: new Map(images), base: withoutAlgorithm(base) };
}

const withoutAlgorithm = (digest: string): string => digest.slice(digest.indexOf(':') + 1);

/** The tests that must pass before a release is built. */
const testsOf = () => [
  { what: 'the gate (.ci/run)', command: '.ci/run', args: [] },
  {
    what: `the upgrade from ${lastTag() ?? 'the last tag, of which there is none yet'} (npm run upgrade)`,
    command: process.execPath,
    args: ['tests/outages/upgrade/main.ts'],
  },
];

/** The tag that the upgrade begins at. */
function lastTag(): string | undefined {
  try {
    return execFileSync('git', ['describe', '--tags', '--abbrev=0', 'HEAD^'], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return undefined;
  }
}

function main(): void {
  const source = sourceOf();
  const repository = repositoryOf();
  const notes = notesOf(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), source.version, { isDryRun });
  say(`${source.version} from ${source.commit}`);
  if (!isDryRun) for (const { command, args } of testsOf()) run(command, args);
  execFileSync(process.execPath, ['scripts/console/build.mjs'], { cwd: root });
  const folder = join(dist, 'release', source.version);
  say('building every program twice');
  requireSame(buildArchives(folder, source), buildArchives(folder, source));
  const materials = new Map([['pnpm-lock.yaml', digestOf(join(root, 'pnpm-lock.yaml'))]]);
  const { images, base } = values.images
    ? buildImages(source, repository)
    : { images: new Map(), base: undefined };
  if (base !== undefined) materials.set(baseImage, base);
  writeFileSync(join(folder, 'NOTES.md'), notes);
  writeStatements(folder, source, { repository, materials, images });
  say(`${digestsOf(folder).size} files in ${folder}`);
  if (isDryRun)
    say(
      `dry run: without ${testsOf()
        .map(({ what }) => what)
        .join(', ')}, images, signature and tag`,
    );
  else signAndTag(folder, source);
}

function signAndTag(folder: string, { version }: ReleaseSource): void {
  run('ssh-keygen', [
    '-Y',
    'sign',
    '-n',
    'secrets-service',
    '-f',
    values['sign-with']!,
    join(folder, 'SHA256SUMS'),
  ]);
  run('git', ['tag', '--annotate', '--file', join(folder, 'NOTES.md'), tagOf(version)]);
  say(`signed and tagged. Publish with: git push origin ${tagOf(version)}`);
}

main();

import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { OtherSource } from './source-with-bug.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

const git = (...args: string[]): string =>
  execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();

/**
 * Copies the services of a revision, which run with the dependencies of this one. Without a revision, it is the newest
 * tag; without a tag, the one before the newest migration. Returns the reason if git does not have it, as in a shallow
 * clone.
 */
export function sourceOfRevision(wanted: string | undefined): (OtherSource & { revision: string }) | string {
  let revision: string;
  try {
    revision = git('rev-parse', '--short', '--verify', `${wanted ?? previousRevision()}^{commit}`);
  } catch {
    return `git does not have the previous version (${wanted ?? 'no tag, and no commit before the newest migration'})`;
  }
  const folder = mkdtempSync(join(tmpdir(), 'fire-revision-'));
  const archive = join(folder, 'archive.tar');
  git('archive', '--output', archive, revision);
  execFileSync('tar', ['-C', folder, '-xf', archive]);
  rmSync(archive);
  for (const part of ['services', 'libs'])
    for (const name of readdirSync(join(folder, part))) linkDependencies(join(part, name), folder);
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  return { folder, revision, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

function previousRevision(): string {
  try {
    return git('describe', '--tags', '--abbrev=0');
  } catch {
    return `${git('log', '-1', '--format=%H', '--diff-filter=A', '--', 'libs/schemas/migrations')}^`;
  }
}

/** Copied, because they are links between the packages of the copy. */
function linkDependencies(name: string, folder: string): void {
  const dependencies = join(root, name, 'node_modules');
  if (existsSync(dependencies)) execFileSync('cp', ['-a', dependencies, join(folder, name)]);
}

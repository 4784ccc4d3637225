import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../..', import.meta.url));

const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();

/** A clone of the repository at an older commit, with the packages and the Node version of that commit. */
export interface OlderSource {
  folder: string;
  /** The tag, or the short hash of the commit. */
  revision: string;
  /** Its pinned Node. */
  node: string;
  /** Whether it has a file or folder. */
  has(path: string): boolean;
  remove(): void;
}

/** The newest tag before the current commit; undefined if there is none. */
export function lastTag(): string | undefined {
  try {
    return git(root, 'describe', '--tags', '--abbrev=0', 'HEAD^');
  } catch {
    return undefined;
  }
}

/**
 * Clones the repository at a commit, and sets the clone up as its users do.
 * @throws if git does not have the commit, as in a shallow clone
 */
export function olderSource(ref: string): OlderSource {
  const commit = git(root, 'rev-parse', '--verify', `${ref}^{commit}`);
  const folder = mkdtempSync(join(tmpdir(), 'older-source-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    git(root, 'clone', '--quiet', '--shared', '--no-checkout', root, folder);
    git(folder, 'checkout', '--quiet', '--detach', commit);
    execFileSync('npm', ['run', '--silent', 'setup'], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  } catch (error) {
    remove();
    throw error;
  }
  return {
    folder,
    revision: commit.startsWith(ref) ? commit.slice(0, 8) : ref,
    node: join(folder, 'node_modules/node/bin/node'),
    has: (path) => existsSync(join(folder, path)),
    remove,
  };
}

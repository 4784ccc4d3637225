import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import type { ContentCoding } from './content-coding.ts';

/** A file of the console, in memory. */
export interface ConsoleFile {
  contentType: string;
  /** Whether its name contains a hash of its content, so that it never changes. */
  isImmutable: boolean;
  /** Differs between versions of the file; without quotes. */
  hash: string;
  /** Its bytes in each coding that the build has made, and as they are. */
  bytes: Readonly<Partial<Record<ContentCoding, Buffer>> & { identity: Buffer }>;
}

/** The files of the console by path, such as `index.html` and `assets/index-Dk3v.js`. Nothing else can be requested. */
export type ConsoleFiles = ReadonlyMap<string, ConsoleFile>;

/** Vite writes what it names after its content into this folder. */
export const assetsFolder = 'assets/';

/** Paths below `/ui/` at which the application starts. */
export const indexPath = 'index.html';

const contentTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.webmanifest': 'application/manifest+json',
  '.txt': 'text/plain; charset=utf-8',
};

/**
 * Reads the built console, with the files that are compressed as `<name>.br` and `<name>.gz`. Returns undefined if
 * there is none.
 */
export function readConsoleFiles(folder: string): ConsoleFiles | undefined {
  if (!existsSync(join(folder, indexPath))) return undefined;
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'));
  const served = names.filter((name) => extname(name) in contentTypes);
  return new Map(served.map((name) => [name, readConsoleFile(folder, name)]));
}

function readConsoleFile(folder: string, name: string): ConsoleFile {
  const file = join(folder, name);
  const identity = readFileSync(file);
  const compressed = { br: `${file}.br`, gzip: `${file}.gz` };
  const present = Object.entries(compressed).filter(([, path]) => existsSync(path));
  return {
    contentType: contentTypes[extname(name)]!,
    isImmutable: name.startsWith(assetsFolder),
    hash: createHash('sha256').update(identity).digest('base64url').slice(0, 22),
    bytes: { identity, ...Object.fromEntries(present.map(([coding, path]) => [coding, readFileSync(path)])) },
  };
}

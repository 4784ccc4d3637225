import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Bug } from './bugs.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Files that the copies of packages refer to. */
const ofRoot = ['package.json', 'tsconfig.base.json', 'tsconfig.json', 'pnpm-workspace.yaml'];

/** Another version of the source, which runs like this one. */
export interface OtherSource {
  folder: string;
  remove(): void;
}

/**
 * Returns the files that a bug changes, with their changed texts.
 * @throws if the text that the bug changes is not there exactly once
 */
export function textsWithBug({ edits }: Bug): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  for (const { file, original, replacement } of edits) {
    const text = texts.get(file) ?? readFileSync(join(root, file), 'utf8');
    texts.set(file, edited(text, original, replacement, file));
  }
  return texts;
}

/**
 * Copies the services and libraries, with the links between them, and introduces a bug into the copy.
 * @throws if the text that the bug changes is not there exactly once
 */
export function sourceWithBug(bug: Bug): OtherSource {
  const texts = textsWithBug(bug);
  const folder = mkdtempSync(join(tmpdir(), 'fire-source-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    for (const part of ['services', 'libs']) execFileSync('cp', ['-a', join(root, part), folder]);
    for (const file of ofRoot) cpSync(join(root, file), join(folder, file));
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
    for (const [file, text] of texts) writeFileSync(join(folder, file), text);
    return { folder, remove };
  } catch (error) {
    remove();
    throw error;
  }
}

function edited(text: string, original: string, replacement: string, file: string): string {
  const [before, after, ...more] = text.split(original);
  if (after === undefined || more.length > 0)
    throw new Error(`${file} does not have this text exactly once:\n${original}`);
  return `${before}${replacement}${after}`;
}

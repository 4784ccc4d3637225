import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** A text as it is, in hex as in a dump of bytes, and in base64 at each of its three offsets. */
export function spellingsOf(text: string): Buffer[] {
  const inBase64 = [0, 1, 2].map((offset) => {
    const encoded = Buffer.from(`${'x'.repeat(offset)}${text}`)
      .toString('base64')
      .replace(/=+$/, '');
    return encoded.slice(offset === 0 ? 0 : 4, -2);
  });
  return [text, Buffer.from(text).toString('hex'), ...inBase64].map((spelling) => Buffer.from(spelling));
}

/** Returns the files below a folder that contain one of these bytes. Files that disappear meanwhile are left out. */
export function filesContaining(
  folder: string,
  wanted: readonly Buffer[],
  isSkipped = (_: string) => false,
): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => !isSkipped(name));
  return files.map((name) => join(folder, name)).filter((file) => contains(file, wanted));
}

function contains(file: string, wanted: readonly Buffer[]): boolean {
  try {
    const stats = statSync(file);
    if (!stats.isFile()) return false;
    const bytes = readFileSync(file);
    return wanted.some((one) => bytes.includes(one));
  } catch {
    return false;
  }
}

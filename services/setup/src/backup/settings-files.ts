import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { ArchiveError } from './archive/archive-error.ts';
import { maxSettingsFiles } from './archive/manifest.ts';
import { maxSettingsBytes } from './archive/members.ts';

/** A file of settings, by its name without the folder. */
export interface SettingsFile {
  name: string;
  content: Buffer;
}

const validName = /^[\w.][\w.-]{0,99}$/;

/** Names of files with keys, tokens and passwords. */
const ofKeys = /\.key$|\.pem$|token|password|database-url|amqp-url|broker-url|passphrase|identity/i;

/**
 * Reads files of settings, such as `.env`.
 * @throws {ArchiveError} if one has the name of a file with keys, is too large, or two have one name
 */
export function readSettingsFiles(paths: readonly string[]): SettingsFile[] {
  if (paths.length > maxSettingsFiles)
    throw new ArchiveError(`BACKUP_SETTINGS_FILES has more than ${maxSettingsFiles} files`);
  const files = paths.map((path) => {
    const name = basename(path);
    if (ofKeys.test(name))
      throw new ArchiveError(`${path} is a file of keys, which an archive must not contain`);
    if (!validName.test(name) || statSync(path).size > maxSettingsBytes)
      throw new ArchiveError(
        `${path} is not a file of settings: its name is unusual, or it is larger than 1 MiB`,
      );
    return { name, content: readFileSync(path) };
  });
  if (new Set(files.map(({ name }) => name)).size !== files.length)
    throw new ArchiveError('BACKUP_SETTINGS_FILES has two files of the same name');
  return files;
}

/**
 * Creates a folder for files of settings from an archive. To be called before anything is restored.
 * @throws {ArchiveError} if a file has an unusual name, or exists there
 */
export function prepareSettingsFolder(folder: string, files: readonly SettingsFile[]): void {
  for (const { name } of files) {
    if (!validName.test(name) || name === '..' || name === '.')
      throw new ArchiveError('the archive has a file of settings with an unusual name');
    if (existsSync(join(folder, name)))
      throw new ArchiveError(`${join(folder, name)} exists; set RESTORE_SETTINGS_DIR to a new folder`);
  }
  mkdirSync(folder, { recursive: true, mode: 0o700 });
}

/** Writes files of settings to a folder that was prepared, with mode 0600. */
export function writeSettingsFiles(folder: string, files: readonly SettingsFile[]): void {
  for (const { name, content } of files)
    writeFileSync(join(folder, name), content, { flag: 'wx', mode: 0o600, flush: true });
}

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { KeysEnv } from '../config.ts';
import { openInstallation, setupFolder } from './installation.ts';
import { keyFiles } from './key-files.ts';
import { writeOnce } from './write-once.ts';

/**
 * Makes every key, password and address that the services need, in one folder for each under `KEYS_DIR`. What is
 * there stays as it is, so it may run at every start, be interrupted anywhere, and run twice at once. A folder that
 * was lost is made again, the same, from the folder `setup`.
 *
 * Throws when `setup` is empty beside folders that are not: new keys could read nothing of what is stored.
 */
export function makeKeys(env: KeysEnv): { folders: string[] } {
  const root = env.KEYS_DIR;
  const orphan = isEmpty(join(root, setupFolder)) && namesIn(root).find((name) => !isEmpty(join(root, name)));
  if (orphan) {
    throw new Error(
      `${join(root, setupFolder)} is empty, and ${join(root, orphan)} is not; restore ${setupFolder} from your backup`,
    );
  }
  const files = keyFiles(openInstallation(join(root, setupFolder)), env);
  for (const { folder, name, content } of files) writeOnce(join(root, folder, name), content);
  return { folders: [...new Set(files.map(({ folder }) => folder))] };
}

const namesIn = (folder: string): string[] => (existsSync(folder) ? readdirSync(folder) : []);

/** Holds no finished file: a draft alone is what an interrupted first run left. */
const isEmpty = (folder: string): boolean => namesIn(folder).every((name) => name.startsWith('.'));

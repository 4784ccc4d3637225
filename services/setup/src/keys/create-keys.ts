import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createSecretFile } from '@secrets/seal';
import type { KeysEnv } from '../config.ts';
import { openInstallation, setupFolder } from './installation.ts';
import { keyFiles } from './key-files.ts';

/**
 * Creates every key, password and URL that the services need, in one folder per service under `KEYS_DIR`. Existing files are
 * not changed, so this may run at every start, be interrupted at any point, and run concurrently. Lost folders are restored
 * with the same content from the folder `setup`.
 *
 * @throws if `setup` is empty but other folders are not: new keys could not open the stored data
 */
export function createKeys(env: KeysEnv): { folders: string[] } {
  const root = env.KEYS_DIR;
  const orphan = isEmpty(join(root, setupFolder)) && namesIn(root).find((name) => !isEmpty(join(root, name)));
  if (orphan) {
    throw new Error(
      `${join(root, setupFolder)} is empty, but ${join(root, orphan)} is not; restore ${setupFolder} from your backup`,
    );
  }
  const files = keyFiles(openInstallation(join(root, setupFolder)), env);
  for (const { folder, name, content } of files)
    createSecretFile(join(root, folder, name), () => content, { mode: 0o400 });
  return { folders: [...new Set(files.map(({ folder }) => folder))] };
}

const namesIn = (folder: string): string[] => (existsSync(folder) ? readdirSync(folder) : []);

/** Whether a folder contains no complete file. An interrupted first run may have left a draft. */
const isEmpty = (folder: string): boolean => namesIn(folder).every((name) => name.startsWith('.'));

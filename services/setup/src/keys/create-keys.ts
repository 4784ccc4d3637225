import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createSecretFile, replaceSecretFile } from '@secrets/seal';
import type { KeysEnv } from '../config.ts';
import { openInstallation, setupFolder } from './installation.ts';
import { keyFiles } from './key-files.ts';

/**
 * Creates every key, password and URL that the services need, in one folder per service under `KEYS_DIR`. Existing files are
 * not changed, except a URL that this has written for the other value of `INTERNAL_TLS`. So this may run at every start, be
 * interrupted at any point, and run concurrently. Lost folders are restored with the same content from the folder `setup`.
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
  const installation = openInstallation(join(root, setupFolder));
  const files = keyFiles(installation, env);
  const former = keyFiles(installation, { ...env, INTERNAL_TLS: !env.INTERNAL_TLS });
  for (const [index, { folder, name, content }] of files.entries()) {
    const file = join(root, folder, name);
    const stored = createSecretFile(file, () => content, { mode: 0o400 });
    if (stored !== content && stored === former[index]!.content) replaceSecretFile(file, stored, content);
  }
  return { folders: [...new Set(files.map(({ folder }) => folder))] };
}

const namesIn = (folder: string): string[] => (existsSync(folder) ? readdirSync(folder) : []);

/** Whether a folder contains no complete file. An interrupted first run may have left a draft. */
const isEmpty = (folder: string): boolean => namesIn(folder).every((name) => name.startsWith('.'));

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from '@jest/globals';
import { mustRun } from '../../run.ts';

const pins = fileURLToPath(new URL('./collection.txt', import.meta.url));
const playbook = fileURLToPath(new URL('./playbook.yml', import.meta.url));

/** Has Ansible play the tasks of the playbook on this machine. */
export async function playTasks(folder: string, env: NodeJS.ProcessEnv): Promise<void> {
  const manifest = join(folder, 'ansible_collections/community/hashi_vault/MANIFEST.json');
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')).collection_info;
  expect(readFileSync(pins, 'utf8')).toContain(`# with community.hashi_vault ${version}\n`);
  const home = mkdtempSync(join(tmpdir(), 'ansible-'));
  const settings = {
    HOME: home,
    LC_ALL: 'C.UTF-8',
    ANSIBLE_COLLECTIONS_PATH: folder,
    ANSIBLE_LOCALHOST_WARNING: 'false',
    ANSIBLE_INVENTORY_UNPARSED_WARNING: 'false',
  };
  const args = ['--connection=local', playbook];
  try {
    await mustRun(join(folder, 'bin', 'ansible-playbook'), args, { env: { ...env, ...settings } });
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

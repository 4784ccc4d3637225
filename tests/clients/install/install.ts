import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { recipes, sourceFile } from './recipes.ts';

const cache = fileURLToPath(new URL('../../../node_modules/.cache/clients/', import.meta.url));

export type ClientName = keyof typeof recipes;
export const clientNames = Object.keys(recipes) as ClientName[];

/** The folder into which a client is installed. */
export const clientFolder = (name: ClientName): string => join(cache, name);

const stampFile = (name: ClientName) => join(clientFolder(name), '.installed');

/** Describes what has to be installed. */
function stampOf(name: ClientName): string {
  const hash = createHash('sha256');
  for (const file of recipes[name].files) hash.update(readFileSync(sourceFile(file)));
  return hash.digest('hex');
}

/** Whether the pinned versions of a client are installed. */
export const isInstalled = (name: ClientName): boolean =>
  existsSync(stampFile(name)) && readFileSync(stampFile(name), 'utf8') === stampOf(name);

/** Installs a client, unless it is installed. Returns why this machine cannot run it. Throws if the installation fails. */
export async function install(name: ClientName): Promise<string | undefined> {
  if (isInstalled(name)) return undefined;
  const obstacle = await recipes[name].obstacle();
  if (obstacle !== undefined) return obstacle;
  const folder = clientFolder(name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await recipes[name].install(folder);
  writeFileSync(stampFile(name), stampOf(name));
  return undefined;
}

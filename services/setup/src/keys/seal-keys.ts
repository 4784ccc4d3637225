import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { KeyServices } from '@secrets/key-service';
import {
  isWrapped,
  type KeyLine,
  keyLineText,
  parseKeyLine,
  parseKeyLines,
  replaceSecretFile,
  type SealKey,
  type WrappedKey,
} from '@secrets/seal';
import type { SealKeysRequest } from './seal-keys-arguments.ts';

/** The keys of a file, by their ids, that have changed, or would change, and the others. */
export interface SealKeysChange {
  file: string;
  changed: string[];
  unchanged: string[];
}

/**
 * Changes how the keys of key files are stored, never the keys themselves, their order, ids or the word `bound`; `new` appends a
 * key that was never stored in plain. Each wrapped key is unwrapped before its file is replaced. What is as it should be stays
 * as it is, so the command can be repeated; a dry run requests the same of the key service, and writes nothing.
 * @throws if a file cannot be read or replaced, or a key not be wrapped or unwrapped; that file has not changed then
 */
export async function sealKeys(request: SealKeysRequest, services: KeyServices): Promise<SealKeysChange[]> {
  const added = request.action === 'new' ? await newKey(request, services) : undefined;
  const changes: SealKeysChange[] = [];
  for (const file of request.files) changes.push(await changeFile(file, request, { services, added }));
  return changes;
}

interface Tools {
  services: KeyServices;
  /** The key that `new` appends, wrapped. */
  added: WrappedKey | undefined;
}

async function changeFile(file: string, request: SealKeysRequest, tools: Tools): Promise<SealKeysChange> {
  const former = readFileSync(file, 'utf8');
  const change: SealKeysChange = { file, changed: [], unchanged: [] };
  parseKeyLines(former, file); // the whole file is in order
  const lines: string[] = [];
  for (const [index, text] of former.split('\n').entries()) {
    const key = parseKeyLine(text, `${file}, line ${index + 1}`);
    const next = key && (await changed(key, request, tools.services));
    if (key !== undefined) (next === undefined ? change.unchanged : change.changed).push(key.id);
    lines.push(next === undefined ? text : keyLineText(next));
  }
  const { added } = tools;
  if (added !== undefined && !change.unchanged.includes(added.id)) {
    change.changed.push(added.id);
    lines.splice(lines.at(-1) === '' ? -1 : lines.length, 0, keyLineText(added));
  }
  if (change.changed.length > 0 && !request.isDry) replaceSecretFile(file, former, lines.join('\n'));
  return change;
}

/** Returns the new form of a key; undefined if it is in the right form. */
async function changed(
  key: KeyLine,
  { action, target }: SealKeysRequest,
  services: KeyServices,
): Promise<KeyLine | undefined> {
  if (action === 'new') return undefined;
  if (action === 'wrap') return isWrapped(key) ? undefined : verified(key, target, services);
  if (!isWrapped(key)) return undefined;
  const isThere = action === 'rewrap' && `${key.service}:${key.wrappedWith}` === target;
  if (isThere) return undefined;
  const plain = { id: key.id, isBound: key.isBound, bytes: await services.unwrap(key) };
  if (action === 'unwrap') return plain;
  const again = await verified(plain, target, services);
  // The target may be another name of the same key, such as an alias.
  return again.service === key.service && again.wrappedWith === key.wrappedWith ? undefined : again;
}

async function verified(key: SealKey, target: string, services: KeyServices): Promise<WrappedKey> {
  const wrapped = await services.wrap(target, key);
  const line = parseKeyLine(keyLineText(wrapped), 'the wrapped key');
  if (line === undefined || !isWrapped(line) || !key.bytes.equals(await services.unwrap(line)))
    throw new Error(`the key ${key.id} is not the same after it was wrapped`);
  return wrapped;
}

/**
 * Returns the key that `new` appends: in all files the same one, and that of an earlier run if it was interrupted.
 * @throws if a file contains the id in plain
 */
async function newKey({ id, target, files }: SealKeysRequest, services: KeyServices): Promise<WrappedKey> {
  const existing = files
    .flatMap((file) => parseKeyLines(readFileSync(file, 'utf8'), file))
    .filter((key) => key.id === id);
  for (const key of existing)
    if (isWrapped(key)) return key;
    else throw new Error(`the key ${id} exists, and is not wrapped; choose another id`);
  return verified({ id, isBound: true, bytes: randomBytes(32) }, target, services);
}

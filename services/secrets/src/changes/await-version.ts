import { randomUUID } from 'node:crypto';
import { notFound } from '@secrets/domain';
import type { Context } from '../context.ts';
import { originMetadata } from '../kv/versions/import-version.ts';
import { upsertMetadata } from '../queries/metadata.ts';
import { previewSecret } from './preview-secret.ts';
import type { Watched, WatchRequest } from './watch-secret.ts';

/**
 * Creates a secret without a version, with its origin in the custom metadata, unless it exists. Returns its state. Throws
 * `invalid` if there is no mount.
 */
export async function awaitVersion(
  context: Context,
  request: WatchRequest & { origin: string },
): Promise<Watched & { secretId: string }> {
  const found = await previewSecret(context, request);
  if (found.secretId === undefined) await create(context, found, request);
  const { secretId, ...state } = found.secretId === undefined ? await previewSecret(context, request) : found;
  if (secretId === undefined) throw notFound('the secret was deleted again');
  return { ...state, secretId };
}

async function create(
  context: Context,
  { mount }: Watched,
  { namespaceId, path, origin }: WatchRequest & { origin: string },
): Promise<void> {
  const customMetadata = originMetadata(null, origin);
  const conditions = { secretId: randomUUID(), mayCreate: true, mayUpdate: false, onlyIf: null };
  await upsertMetadata(context.db, { ...mount, namespaceId }, path, { customMetadata }, conditions);
}

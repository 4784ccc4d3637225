import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { parseKeyRing, seal } from '@secrets/seal';
import type { PutRequest } from '../driver/driver.ts';
import { valueHash } from '../entry/values/value-hash.ts';

const keyRing = parseKeyRing(`test:${randomBytes(32).toString('base64')}`, 'test');

/** Returns the request of a first put. */
export function putRequest(externalName: string, value: string, over: Partial<PutRequest> = {}): PutRequest {
  return {
    entryId: randomUUID(),
    externalName,
    value: seal(value),
    idempotencyToken: createHash('sha256').update(randomUUID()).digest('hex'),
    overwrite: false,
    remote: null,
    putStartedAt: null,
    recordStart: async () => {},
    recordRemote: async () => {},
    valueHash: valueHash(keyRing),
    valueChanged: true,
    verify: false,
    ...over,
  };
}

/** Returns the fields of a later put with another value. */
export function newValue({ externalName }: PutRequest, value: string) {
  const { value: sealed, idempotencyToken } = putRequest(externalName, value);
  return { value: sealed, idempotencyToken };
}

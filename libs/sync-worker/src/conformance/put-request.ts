import { createHash, randomUUID } from 'node:crypto';
import { seal } from '@secrets/seal';
import type { PutRequest } from '../driver/driver.ts';

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

import { createHash, randomUUID } from 'node:crypto';
import { seal } from '@secrets/seal';
import type { PutRequest } from '../driver/driver.ts';

/** A first put of a value. */
export function putRequest(externalName: string, value: string, over: Partial<PutRequest> = {}): PutRequest {
  return {
    entryId: randomUUID(),
    externalName,
    value: seal(value),
    idempotencyToken: createHash('sha256').update(randomUUID()).digest('hex'),
    overwrite: false,
    remote: null,
    valueChanged: true,
    verify: false,
    ...over,
  };
}

/** What makes of a put a later one with another value: a value and the token of another intent. */
export function newValue({ externalName }: PutRequest, value: string) {
  const { value: sealed, idempotencyToken } = putRequest(externalName, value);
  return { value: sealed, idempotencyToken };
}

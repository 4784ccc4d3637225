import { z } from 'zod';
import { parseExactly } from './json/exact-json.ts';
import { isJsonObject } from './json/json.ts';
import { excessIn, type JsonBudget } from './json/json-budget.ts';

/** Identifies the version that a sealed value belongs to. All fields are known before the version has a number. */
export interface VersionLocation {
  mountId: string;
  /** The secret's path under its mount. */
  path: string;
  /** The version's own id, a UUID; not its number. */
  versionId: string;
}

/** The additional authenticated data of a version's sealed value: a value moved to another secret or version does not open. */
export const versionAad = ({ mountId, path, versionId }: VersionLocation): string =>
  `secrets.versions:${mountId}:${versionId}:${path}`;

/** Limits of the value of a secret. A body that writes one has one more level and a few more values. */
export const secretBudget: JsonBudget = { depth: 100, values: 5_000 };

/** The value of one version: a JSON object, in which a number may be an `ExactNumber`. */
export type SecretData = Record<string, unknown>;

/** Accepts a JSON object within `secretBudget`, and returns it unchanged: no key is dropped, not even `__proto__`. */
export const SecretData = z
  .custom<SecretData>(isJsonObject, { error: 'must be a JSON object' })
  .superRefine((given, context) => {
    const excess = excessIn(given, secretBudget);
    if (excess !== undefined) context.addIssue({ code: 'custom', message: excess });
  })
  .meta({ type: 'object' });

/** Encodes a value as the bytes to seal. */
export const encodeSecretData = (value: SecretData): Buffer => Buffer.from(JSON.stringify(value), 'utf8');

/** Decodes what `encodeSecretData` returned. */
export const decodeSecretData = (bytes: Uint8Array): SecretData =>
  parseExactly(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')) as SecretData;

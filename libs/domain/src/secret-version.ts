import { z } from 'zod';
import { isExactNumber, parseExactly } from './exact-json.ts';
import { isJsonObject } from './json.ts';

/** What a version's value belongs to. All of it is known before the version has a number. */
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

/** Maximum nesting of objects and lists in a secret. */
const maxDepth = 100;

/** The value of one version: a JSON object, in which a number may be an `ExactNumber`. */
export type SecretData = Record<string, unknown>;

/** Accepts a JSON object that is not nested too deeply, and returns it unchanged: no key is dropped, not even `__proto__`. */
export const SecretData = z
  .custom<SecretData>(isJsonObject, { error: 'must be a JSON object' })
  .refine((given) => fitsIn(maxDepth, given), { error: `is nested deeper than ${maxDepth} levels` })
  .meta({ type: 'object' });

/** Encodes a value as the bytes to seal. */
export const encodeSecretData = (value: SecretData): Buffer => Buffer.from(JSON.stringify(value), 'utf8');

/** Decodes what `encodeSecretData` returned. */
export const decodeSecretData = (bytes: Uint8Array): SecretData =>
  parseExactly(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')) as SecretData;

function fitsIn(levels: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null || isExactNumber(value)) return true;
  return levels > 0 && Object.values(value).every((inner) => fitsIn(levels - 1, inner));
}

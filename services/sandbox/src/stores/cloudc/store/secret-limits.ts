import CRC32C from 'crc-32/crc32c.js';
import { invalidArgument } from '../google-error.ts';

// Limits of the service, from its API reference and quotas page.
const MAX_VALUE_BYTES = 65_536;
const MAX_LABELS = 64;
const MAX_LABEL_BYTES = 128;
const SECRET_ID = /^[A-Za-z0-9_-]{1,255}$/;
const LABEL_KEY = /^[\p{Ll}\p{Lo}][\p{Ll}\p{Lo}\p{N}_-]{0,62}$/u;
const LABEL_VALUE = /^[\p{Ll}\p{Lo}\p{N}_-]{0,63}$/u;

/** @throws GoogleError INVALID_ARGUMENT */
export function validateId(id: string): void {
  if (!SECRET_ID.test(id))
    throw invalidArgument(
      'secret_id',
      'Secret IDs must have 1 to 255 letters, digits, underscores and hyphens.',
    );
}

/** @throws GoogleError INVALID_ARGUMENT */
export function validateLabels(labels: Readonly<Record<string, string>>): void {
  const entries = Object.entries(labels);
  if (entries.length > MAX_LABELS)
    throw invalidArgument('secret.labels', `At most ${MAX_LABELS} labels are allowed.`);
  for (const [key, value] of entries) {
    const isShort = Buffer.byteLength(key) <= MAX_LABEL_BYTES && Buffer.byteLength(value) <= MAX_LABEL_BYTES;
    if (!isShort || !LABEL_KEY.test(key) || !LABEL_VALUE.test(value))
      throw invalidArgument('secret.labels', `The label '${key}' is not valid.`);
  }
}

/**
 * Verifies size and checksum of a value.
 * @param sentChecksum the value's CRC32C as a decimal number, if the client sent it
 * @throws GoogleError INVALID_ARGUMENT
 */
export function validatePayload(data: Buffer, sentChecksum: string | undefined): void {
  if (data.length === 0) throw invalidArgument('payload.data', 'The payload must not be empty.');
  if (data.length > MAX_VALUE_BYTES)
    throw invalidArgument('payload.data', 'Secret Payload cannot exceed 65536 bytes.');
  if (sentChecksum !== undefined && sentChecksum !== checksumOf(data))
    throw invalidArgument('payload.data_crc32c', 'The checksum does not match the payload.');
}

/** The CRC32C of a value as a decimal number, which is how the protocol encodes 64-bit integers. */
export const checksumOf = (data: Buffer): string => String(CRC32C.buf(data) >>> 0);

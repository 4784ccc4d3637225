import { badParameter } from './vault-error.ts';

// https://learn.microsoft.com/azure/key-vault/general/about-keys-secrets-certificates and .../secrets/about-secrets
const NAME = /^[0-9a-zA-Z-]{1,127}$/;
const MAX_VALUE_BYTES = 25_600;
const MAX_TAGS = 15;
const MAX_TAG_LENGTH = 256;

/** @throws VaultError BadParameter */
export function checkName(name: string): void {
  if (!NAME.test(name)) throw badParameter(`The request URI contains an invalid name: ${name}`);
}

/** @throws VaultError BadParameter */
export function checkValue(value: string): void {
  if (Buffer.byteLength(value) > MAX_VALUE_BYTES)
    throw badParameter(`The value of the secret is too large. The maximum size is ${MAX_VALUE_BYTES} bytes.`);
}

/** @throws VaultError BadParameter */
export function checkTags(tags: Readonly<Record<string, string>>): void {
  const entries = Object.entries(tags);
  if (entries.length > MAX_TAGS) throw badParameter(`At most ${MAX_TAGS} tags are allowed.`);
  if (
    entries.some(([key, value]) => key === '' || key.length > MAX_TAG_LENGTH || value.length > MAX_TAG_LENGTH)
  )
    throw badParameter(`Tag names and values may have at most ${MAX_TAG_LENGTH} characters.`);
}

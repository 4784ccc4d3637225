import { invalidParameter, validationError } from '../aws-error.ts';

// Limits of the service, from its API reference and quotas page.
const NAME = /^[A-Za-z0-9/_+=.@-]+$/;
const MAX_NAME_LENGTH = 512;
const MAX_VALUE_BYTES = 65_536;
const MAX_TAGS = 50;
const MAX_TAG_KEY_LENGTH = 128;
const MAX_TAG_VALUE_LENGTH = 256;

/** The value in a request; at most one of the two is set. */
export interface SentValue {
  SecretString?: string | undefined;
  SecretBinary?: string | undefined;
}

export function hasValue({ SecretString, SecretBinary }: SentValue): boolean {
  return SecretString !== undefined || SecretBinary !== undefined;
}

/**
 * The service advises against names that end like an ARN, but accepts them.
 * @throws AwsError ValidationException for a wrong length or alphabet
 */
export function validateName(name: string): void {
  if (name.length < 1 || name.length > MAX_NAME_LENGTH) {
    throw validationError(
      `Value at 'name' failed to satisfy constraint: Member must have length between 1 and ${MAX_NAME_LENGTH}`,
    );
  }
  if (!NAME.test(name)) {
    throw validationError(
      'Invalid name. Must be a valid name containing alphanumeric characters, or any of the following: -/_+=.@!',
    );
  }
}

/** @throws AwsError if the value is empty or larger than 65,536 bytes, or if both a text and a binary are set */
export function validateValue({ SecretString, SecretBinary }: SentValue): void {
  if (SecretString !== undefined && SecretBinary !== undefined) {
    throw invalidParameter(
      "You can't specify both a binary secret value and a string secret value in the same secret.",
    );
  }
  if (SecretString !== undefined) validateLength('secretString', Buffer.byteLength(SecretString));
  if (SecretBinary !== undefined) validateLength('secretBinary', Buffer.from(SecretBinary, 'base64').length);
}

function validateLength(member: string, bytes: number): void {
  if (bytes < 1) {
    throw validationError(
      `Value at '${member}' failed to satisfy constraint: Member must have length greater than or equal to 1`,
    );
  }
  if (bytes > MAX_VALUE_BYTES) {
    throw validationError(
      `Value at '${member}' failed to satisfy constraint: Member must have length less than or equal to ${MAX_VALUE_BYTES}`,
    );
  }
}

/** @throws AwsError InvalidParameterException */
export function validateToken(token: string): void {
  if (token.length < 32 || token.length > 64) {
    throw invalidParameter('ClientRequestToken must be 32-64 characters long.');
  }
}

/**
 * Returns `existing` with `added` applied to it.
 * @throws AwsError for more than 50 tags, a key or value that is too long, or a key that starts with `aws:`
 */
export function withTags(
  existing: ReadonlyMap<string, string>,
  added: readonly { Key?: string | undefined; Value?: string | undefined }[],
): Map<string, string> {
  const tags = new Map(existing);
  for (const { Key = '', Value = '' } of added) {
    validateTag(Key, Value);
    tags.set(Key, Value);
  }
  if (tags.size > MAX_TAGS) throw invalidParameter(`A secret can have at most ${MAX_TAGS} tags.`);
  return tags;
}

function validateTag(key: string, value: string): void {
  if (key.length < 1 || key.length > MAX_TAG_KEY_LENGTH) {
    throw validationError(
      `Value at 'tags.key' failed to satisfy constraint: Member must have length between 1 and ${MAX_TAG_KEY_LENGTH}`,
    );
  }
  if (value.length > MAX_TAG_VALUE_LENGTH) {
    throw validationError(
      `Value at 'tags.value' failed to satisfy constraint: Member must have length less than or equal to ${MAX_TAG_VALUE_LENGTH}`,
    );
  }
  if (/^aws:/i.test(key)) throw invalidParameter('The tag key prefix aws: is reserved.');
}

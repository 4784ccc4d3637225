import { invalidParameter, outsideModel } from '../aws-error.ts';

/** Limits of the service, from its API reference and quotas page. */
const NAME = /^[A-Za-z0-9/_+=.@-]+$/;
const LONGEST_NAME = 512;
const MOST_VALUE_BYTES = 65_536;
const MOST_TAGS = 50;
const LONGEST_TAG_KEY = 128;
const LONGEST_TAG_VALUE = 256;

/** A value as it was sent; at most one of the two is set. */
export interface SentValue {
  SecretString?: string | undefined;
  SecretBinary?: string | undefined;
}

/** @throws AwsRefusal ValidationException for length and alphabet; an ending like an ARN's is advised against, and taken */
export function mustBeName(name: string): void {
  if (name.length < 1 || name.length > LONGEST_NAME) {
    throw outsideModel(
      `Value at 'name' failed to satisfy constraint: Member must have length between 1 and ${LONGEST_NAME}`,
    );
  }
  if (!NAME.test(name)) {
    throw outsideModel(
      'Invalid name. Must be a valid name containing alphanumeric characters, or any of the following: -/_+=.@!',
    );
  }
}

/** @throws AwsRefusal for an empty value, one beyond 65,536 bytes, or a text and a binary together */
export function mustBeValue({ SecretString, SecretBinary }: SentValue): void {
  if (SecretString !== undefined && SecretBinary !== undefined) {
    throw invalidParameter(
      "You can't specify both a binary secret value and a string secret value in the same secret.",
    );
  }
  if (SecretString !== undefined) mustFit('secretString', Buffer.byteLength(SecretString));
  if (SecretBinary !== undefined) mustFit('secretBinary', Buffer.from(SecretBinary, 'base64').length);
}

function mustFit(member: string, bytes: number): void {
  if (bytes < 1) {
    throw outsideModel(
      `Value at '${member}' failed to satisfy constraint: Member must have length greater than or equal to 1`,
    );
  }
  if (bytes > MOST_VALUE_BYTES) {
    throw outsideModel(
      `Value at '${member}' failed to satisfy constraint: Member must have length less than or equal to ${MOST_VALUE_BYTES}`,
    );
  }
}

/** @throws AwsRefusal InvalidParameterException */
export function mustBeToken(token: string): void {
  if (token.length < 32 || token.length > 64) {
    throw invalidParameter('ClientRequestToken must be 32-64 characters long.');
  }
}

/**
 * The tags after `added` came on top of `present`.
 * @throws AwsRefusal for more than 50, a key or value that is too long, or a key that begins with `aws:`
 */
export function withTags(
  present: ReadonlyMap<string, string>,
  added: readonly { Key?: string | undefined; Value?: string | undefined }[],
): Map<string, string> {
  const tags = new Map(present);
  for (const { Key = '', Value = '' } of added) {
    mustBeTag(Key, Value);
    tags.set(Key, Value);
  }
  if (tags.size > MOST_TAGS) throw invalidParameter(`A secret can have at most ${MOST_TAGS} tags.`);
  return tags;
}

function mustBeTag(key: string, value: string): void {
  if (key.length < 1 || key.length > LONGEST_TAG_KEY) {
    throw outsideModel(
      `Value at 'tags.key' failed to satisfy constraint: Member must have length between 1 and ${LONGEST_TAG_KEY}`,
    );
  }
  if (value.length > LONGEST_TAG_VALUE) {
    throw outsideModel(
      `Value at 'tags.value' failed to satisfy constraint: Member must have length less than or equal to ${LONGEST_TAG_VALUE}`,
    );
  }
  if (/^aws:/i.test(key)) throw invalidParameter('The tag key prefix aws: is reserved.');
}

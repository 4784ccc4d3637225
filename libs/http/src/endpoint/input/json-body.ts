import { isUtf8 } from 'node:buffer';
import { invalid, Problem, parseExactly } from '@secrets/domain';

const jsonTypes = ['application/json', 'application/merge-patch+json'];
/** The content type that curl sends for `-d` by default; treated as JSON. */
const curlDefault = 'application/x-www-form-urlencoded';

const notJson = (): Problem =>
  new Problem('unsupported_media_type', 'the body must be application/json in UTF-8');

/** Throws `unsupported_media_type` if the type is neither absent nor accepted (docs/conventions.md#15-bodies). */
export function requireJsonType(contentType: string | undefined): void {
  if (contentType === undefined) return;
  const [type = '', ...parameters] = contentType
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
  if (!jsonTypes.includes(type) && type !== curlDefault) throw notJson();
  const charset = parameters.find((parameter) => parameter.startsWith('charset='));
  if (charset !== undefined && !/^charset="?utf-8"?$/.test(charset)) throw notJson();
}

/**
 * Parses the bytes of a body; undefined if there are none. Numbers keep their digits (`parseExactly`).
 * @throws a problem (`invalid`) if they are not JSON in UTF-8
 */
export function parseJsonBody(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined;
  if (!isUtf8(bytes)) throw invalid('the body is not valid UTF-8');
  try {
    return parseExactly(bytes.toString('utf8').replace(/^\ufeff/, '')); // some editors write a byte order mark
  } catch (error) {
    throw invalid(
      error instanceof RangeError ? 'the body is nested too deeply' : 'the body is not valid JSON',
    );
  }
}

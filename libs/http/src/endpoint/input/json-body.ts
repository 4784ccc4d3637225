import { isUtf8 } from 'node:buffer';
import { invalid, type JsonBudget, Problem, parseExactly } from '@secrets/domain';
import { requireWithin } from './body-budgets.ts';
import { requireUnicode } from './require-unicode.ts';

const jsonTypes = ['application/json', 'application/merge-patch+json'];
/** The content types that curl sends for `-d`, and `fetch` for a text, by default; treated as JSON. */
const defaultTypes = ['application/x-www-form-urlencoded', 'text/plain'];

const notJson = (): Problem =>
  new Problem('unsupported_media_type', 'the body must be application/json in UTF-8');

/** Throws `unsupported_media_type` if the type is neither absent nor accepted (docs/conventions/http.md#bodies). */
export function requireJsonType(contentType: string | undefined): void {
  if (contentType === undefined) return;
  const [type = '', ...parameters] = contentType
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
  if (![...jsonTypes, ...defaultTypes].includes(type)) throw notJson();
  const charset = parameters.find((parameter) => parameter.startsWith('charset='));
  if (charset !== undefined && !/^charset="?utf-8"?$/.test(charset)) throw notJson();
}

/**
 * Parses the bytes of a body; undefined if there are none. Numbers keep their digits (`parseExactly`).
 * @throws a problem (`invalid`) if they exceed the budget, are not JSON in UTF-8, or contain text that is not valid Unicode
 */
export function parseJsonBody(bytes: Buffer, budget: JsonBudget): unknown {
  if (bytes.length === 0) return undefined;
  requireWithin(budget, bytes);
  if (!isUtf8(bytes)) throw invalid('the body is not valid UTF-8');
  const text = bytes.toString('utf8').replace(/^\ufeff/, ''); // some editors write a byte order mark
  const parsed = parsedBody(text);
  requireUnicode(text, parsed);
  return parsed;
}

function parsedBody(text: string): unknown {
  try {
    return parseExactly(text);
  } catch {
    throw invalid('the body is not valid JSON');
  }
}

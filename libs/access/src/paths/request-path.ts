import { invalid } from '@secrets/domain';

const printable = /^[\x21-\x7e]*$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: rejects control characters
const forbiddenCharacters = /[\x00-\x1f\x7f\\]/;

/**
 * Decodes the path of a request to the form in which policies are evaluated: percent-decoded once, without one trailing
 * slash. An encoded slash is a slash. Forward `encodePath` of the result, so that no service decodes a path that was not
 * evaluated (docs/conventions/http.md#paths).
 * @throws a problem (`invalid`) for empty, `.` and `..` segments, backslashes and control characters, encoded or not,
 *   and for invalid encoding
 */
export function decodePath(encoded: string): string {
  if (!printable.test(encoded)) throw invalid('the path must be percent-encoded');
  return checkedPath(encoded.includes('%') ? decoded(encoded) : encoded);
}

/** The path in the header `X-Service-Namespace`, without leading and trailing slashes; empty for `root` and if absent. */
export function namespacePath(header: string | undefined): string {
  const path = (header ?? '').replace(/^\//, '');
  return path === '' || path === 'root' || path === 'root/' ? '' : checkedPath(path, 'X-Service-Namespace');
}

/** Encodes a decoded path for a URL, segment by segment. */
export const encodePath = (path: string): string =>
  plainPath.test(path) ? path : path.split('/').map(encodeURIComponent).join('/');

/**
 * Makes a path in the request's namespace relative to the token's namespace, where its policies apply. Undefined if the
 * request's namespace is neither the token's nor below it.
 */
export function pathFromNamespace(
  tokenNamespace: string,
  namespace: string,
  path: string,
): string | undefined {
  if (tokenNamespace === namespace) return path;
  if (tokenNamespace === '') return `${namespace}/${path}`;
  if (!namespace.startsWith(`${tokenNamespace}/`)) return undefined;
  return `${namespace.slice(tokenNamespace.length + 1)}/${path}`;
}

const plainPath = /^[A-Za-z0-9/_.-]*$/;

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw invalid('the path has invalid percent-encoding or is not UTF-8');
  }
}

function checkedPath(text: string, what = 'the path'): string {
  const path = text.endsWith('/') ? text.slice(0, -1) : text;
  if (forbiddenCharacters.test(path))
    throw invalid(`${what} must not contain backslashes or control characters`);
  if (forbiddenSegment.test(path)) throw invalid(`${what} must not contain empty, . or .. segments`);
  return path;
}

const forbiddenSegment = /(?:^|\/)\.{0,2}(?:\/|$)/;

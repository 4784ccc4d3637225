import { invalid } from '@secrets/domain';

const printable = /^[\x21-\x7e]*$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: that no control character passes is the point
const unfit = /[\x00-\x1f\x7f\\]/;

/**
 * The path of a request as policies see it: percent-decoded once, without slashes at its ends. What is forwarded has
 * to be `encodePath` of this same text, so that nobody decodes to something that was not evaluated. An encoded slash
 * is a slash. Throws a problem (`invalid`) for empty, `.` and `..` segments, backslashes, control characters and
 * bad encoding, whether they were sent plainly or encoded; a single slash at the end is dropped.
 */
export function decodePath(encoded: string): string {
  if (!printable.test(encoded)) throw invalid('the path must be percent-encoded');
  return checkedPath(encoded.includes('%') ? decoded(encoded) : encoded);
}

/** The path of `X-Service-Namespace`: without slashes at its ends; empty for `root` and for none. */
export function namespacePath(header: string | undefined): string {
  const given = (header ?? '').replace(/^\//, '');
  return given === '' || given === 'root' || given === 'root/'
    ? ''
    : checkedPath(given, 'X-Service-Namespace');
}

/** Spells a decoded path for a URL, each segment encoded by itself. */
export const encodePath = (path: string): string =>
  plainPath.test(path) ? path : path.split('/').map(encodeURIComponent).join('/');

/**
 * A path of a request as the policies of the token's namespace see it: with the way from there to the request's
 * namespace in front. Undefined when the request's namespace is not the token's and not below it.
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
    throw invalid('the path is not valid percent-encoding of UTF-8');
  }
}

function checkedPath(text: string, what = 'the path'): string {
  const path = text.endsWith('/') ? text.slice(0, -1) : text;
  if (unfit.test(path)) throw invalid(`${what} must not hold backslashes or control characters`);
  if (oddSegment.test(path)) throw invalid(`${what} must not hold empty, . or .. segments`);
  return path;
}

const oddSegment = /(?:^|\/)\.{0,2}(?:\/|$)/;

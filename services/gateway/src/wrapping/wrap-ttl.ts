import type { IncomingHttpHeaders } from 'node:http';
import { invalid } from '@secrets/domain';
import { seconds } from '@secrets/http';

/** The longest time for which a response is kept: 768 h, like the longest lifetime of a token. */
const maxSeconds = 768 * 3_600;
const names = ['x-service-wrap-ttl', 'x-vault-wrap-ttl'] as const;

/**
 * For how long the response of a request is to be wrapped, in seconds; undefined if it is not to be
 * (docs/conventions/access.md#response-wrapping). Throws `invalid` if a header is not a duration, or if a path that
 * only wraps has none.
 */
export function wrapSecondsOf(headers: IncomingHttpHeaders, path: string): number | undefined {
  const name = names.find((header) => headers[header] !== undefined && headers[header] !== '');
  const wrapSeconds = name === undefined ? 0 : parsed(name, String(headers[name]));
  if (wrapSeconds > 0) return wrapSeconds;
  if (path === 'sys/wrapping/wrap') throw invalid(`the header ${names[0]} is required`);
  return undefined;
}

function parsed(name: string, text: string): number {
  const { success, data } = seconds.safeParse(text);
  if (!success) throw invalid(`the header ${name} must be a duration such as 60 or 5m`);
  if (data > maxSeconds) throw invalid(`the header ${name} must be at most 768h`);
  return data;
}

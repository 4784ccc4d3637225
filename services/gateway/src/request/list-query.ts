import querystring from 'node:querystring';
import { Problem } from '@secrets/domain';

/** Whether a query requests a list, and the query without that parameter. */
export interface ListQuery {
  isList: boolean;
  /** The other parameters, unchanged; without `?`. */
  rest: string;
}

/**
 * Removes every `list` parameter from a query. A request with several of them is ambiguous, so the gateway decides: the
 * service receives either none or exactly one, at the beginning of the query. A request that was authorized as a read is
 * therefore never handled as a list, or the reverse.
 *
 * OpenBao lists all folders below a path with `scan` (https://openbao.org/api-docs/secret/kv/kv-v2/#scan-secrets). To read or to
 * list in its place would return something else, so a request with it throws `method_not_allowed`.
 */
export function extractList(query: string): ListQuery {
  if (!mayNameList.test(query)) return { isList: false, rest: query };
  const isList = (part: string) => named(part) === 'list';
  const parts = query.split('&');
  if (parts.some((part) => named(part) === 'scan' && isTrue(part))) throw noScan();
  return {
    isList: parts.some((part) => isList(part) && isTrue(part)),
    rest: parts.filter((part) => !isList(part)).join('&'),
  };
}

const noScan = () =>
  new Problem('method_not_allowed', 'scan is not supported: list each folder', {
    allowed: ['GET', 'LIST'],
  });

const mayNameList = /list|scan|%/;
const named = (part: string): string => decoded(part.split('=', 1)[0] ?? '');
const isTrue = (part: string): boolean =>
  ['true', '1'].includes(decoded(part.slice(part.indexOf('=') + 1)).toLowerCase()); // some languages write True
const decoded = (text: string): string => querystring.unescape(text.replaceAll('+', ' '));

import querystring from 'node:querystring';

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
 */
export function extractList(query: string): ListQuery {
  if (!mayNameList.test(query)) return { isList: false, rest: query };
  const isList = (part: string) => named(part) === 'list';
  const parts = query.split('&');
  return {
    isList: parts.some((part) => isList(part) && isTrue(part)),
    rest: parts.filter((part) => !isList(part)).join('&'),
  };
}

const mayNameList = /list|%/;
const named = (part: string): string => decoded(part.split('=', 1)[0] ?? '');
const isTrue = (part: string): boolean =>
  ['true', '1'].includes(decoded(part.slice(part.indexOf('=') + 1)).toLowerCase()); // some languages write True
const decoded = (text: string): string => querystring.unescape(text.replaceAll('+', ' '));

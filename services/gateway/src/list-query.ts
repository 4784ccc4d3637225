import querystring from 'node:querystring';

/** Whether a query asks for a list, and the query without that parameter. */
export interface ListQuery {
  isList: boolean;
  /** What is left, as it was written; without `?`. */
  rest: string;
}

/**
 * Takes every `list` out of a query. Which of several counts is decided here once: services get either none or
 * exactly one at the very beginning, so a request evaluated as a read cannot be answered as a list or the reverse.
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

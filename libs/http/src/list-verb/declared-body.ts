/** Body that a header block announces: its length in bytes, `chunked`, or `doubtful` if two parsers could disagree. */
export type DeclaredBody = number | 'chunked' | 'doubtful';

export interface DeclaredBodyRules {
  /** Whether an `Upgrade` header may end HTTP on this connection. */
  upgrades: boolean;
}

const ordinaryRequestLine = /^(?!CONNECT )[A-Z-]+ [^ \r\n]+ HTTP\/1\.[01](?:\r\n|$)/;
const malformedLineEnd = /\r(?!\n)|(?<!\r)\n|\n[ \t]/;
const framingHeaders = /\n(?:content-length|transfer-encoding|upgrade)(?![\w-])[^\r]*/gi;
const plainLength = /^\ncontent-length:[ \t]*(\d{1,15})[ \t]*$/i;
const plainChunked = /^\ntransfer-encoding:[ \t]*chunked[ \t]*$/i;
const anyUpgrade = /^\nupgrade/i;

/**
 * Determines the length of a request's body (RFC 9112, section 6.3) from its header block: request line and header
 * lines as latin1 text, without the empty line. Returns `doubtful` for everything on which two parsers could disagree:
 * CONNECT, folded lines, bare CR or LF, more than one framing header, a length that is not plain digits, a
 * transfer coding other than `chunked` alone, an upgrade that may be accepted.
 */
export function declaredBody(head: string, rules: DeclaredBodyRules): DeclaredBody {
  if (!ordinaryRequestLine.test(head) || malformedLineEnd.test(head)) return 'doubtful';
  const found = head.match(framingHeaders);
  if (found === null) return 0;
  const headers = rules.upgrades ? found : found.filter((line) => !anyUpgrade.test(line));
  return headers.length > 1 ? 'doubtful' : bodyLength(headers[0]);
}

function bodyLength(header: string | undefined): DeclaredBody {
  if (header === undefined) return 0;
  const digits = plainLength.exec(header)?.[1];
  if (digits !== undefined) return Number(digits);
  return plainChunked.test(header) ? 'chunked' : 'doubtful';
}

const plainChunkSize = /^([0-9a-f]{1,12})(?:;.*)?$/i;

/** The size in bytes in a chunk-size line without its CRLF; undefined if the line is malformed. */
export function chunkBytes(line: string): number | undefined {
  const digits = plainChunkSize.exec(line)?.[1];
  return digits === undefined ? undefined : Number.parseInt(digits, 16);
}

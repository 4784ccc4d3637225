import fc from 'fast-check';

/** A request as it is sent and as a server must receive it, in latin1. */
export interface GeneratedRequest {
  verb: string;
  body: string;
  wire: string;
}

const verbs = ['LIST', 'GET', 'POST', 'PUT', 'DELETE', 'LOCK'];
const bodyText = fc.oneof(
  fc.constantFrom(
    '',
    'LIST ',
    'LIST /x HTTP/1.1\r\n\r\n',
    '\r\n\r\nLIST ',
    'LINK ',
    'L',
    '\r\n',
    '0\r\n\r\n',
  ),
  fc.string({ maxLength: 40 }).map((text) => Buffer.from(text).toString('latin1')),
);

const withoutBody = fc
  .record({ verb: fc.constantFrom(...verbs) })
  .map(({ verb }) => generated(verb, '', '', ''));

const withLength = fc
  .record({ verb: fc.constantFrom(...verbs), body: bodyText })
  .map(({ verb, body }) => generated(verb, body, `Content-Length: ${body.length}\r\n`, body));

const withChunks = fc
  .record({
    verb: fc.constantFrom(...verbs),
    pieces: fc.array(
      bodyText.filter((text) => text !== ''),
      { maxLength: 4 },
    ),
    extension: fc.constantFrom('', ';a=LIST', ';b'),
    trailer: fc.constantFrom('', 'X-Sum: LIST\r\n', 'A: 1\r\nLIST: 2\r\n'),
  })
  .map(({ verb, pieces, extension, trailer }) => {
    const chunks = pieces.map((piece) => `${piece.length.toString(16)}${extension}\r\n${piece}\r\n`).join('');
    return generated(verb, pieces.join(''), 'Transfer-Encoding: chunked\r\n', `${chunks}0\r\n${trailer}\r\n`);
  });

function generated(verb: string, body: string, framing: string, sentBody: string): GeneratedRequest {
  return {
    verb,
    body,
    wire: `${verb} /LIST HTTP/1.1\r\nHost: a\r\nX: LIST LIST\r\n${framing}\r\n${sentBody}`,
  };
}

const anyRequest = fc
  .record({
    before: fc.constantFrom('', '', '\r\n', '\r\n\r\n'),
    request: fc.oneof(withoutBody, withLength, withChunks),
  })
  .map(({ before, request }) => ({ ...request, wire: before + request.wire }));

/** Up to six requests on one connection, some of them with bodies and headers that look like a LIST. */
export const generatedRequests = fc.array(anyRequest, { minLength: 1, maxLength: 6 });

/** Lengths of the pieces into which to cut the input, used cyclically. */
export const generatedSplits = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 8 });

/** Cuts a text into pieces of these lengths, used cyclically. */
export function split(text: string, lengths: readonly number[]): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length; at += pieces.at(-1)?.length ?? 1) {
    pieces.push(text.slice(at, at + (lengths[pieces.length % lengths.length] ?? 1)));
  }
  return pieces;
}

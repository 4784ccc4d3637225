import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { generatedRequests, generatedSplits, split } from '../../tests/generated-requests.ts';
import { RequestFraming } from './request-framing.ts';

const rules = { maxHeaderBytes: 1_000, upgrades: false };

/** Returns the text that reaches the parser if a request arrives in these pieces. */
function parserInput(pieces: readonly string[], used = rules): string {
  const framing = new RequestFraming(used);
  return pieces
    .map((piece) => {
      const bytes = Buffer.from(piece, 'latin1');
      framing.feed(bytes);
      return bytes.toString('latin1');
    })
    .join('');
}

const post = (body: string, ...headers: string[]) =>
  `POST /a HTTP/1.1\r\n${headers.map((line) => `${line}\r\n`).join('')}\r\n${body}`;

describe('RequestFraming', () => {
  test('swaps LIST and LINK and no other verb', () => {
    expect(parserInput(['LIST / HTTP/1.1\r\n\r\n'])).toBe('LINK / HTTP/1.1\r\n\r\n');
    expect(parserInput(['LINK / HTTP/1.1\r\n\r\n'])).toBe('LIST / HTTP/1.1\r\n\r\n');
    for (const verb of ['GET', 'LOCK', 'LISK', 'LINT', 'LIS', 'list', 'XLIST', 'LI', 'L']) {
      expect(parserInput([`${verb} /LIST HTTP/1.1\r\n\r\n`])).not.toMatch(/^(LIST|LINK) /);
    }
  });

  test('swaps verbs and leaves every other byte unchanged in random requests, split anywhere', () => {
    fc.assert(
      fc.property(generatedRequests, generatedSplits, (requests, splits) => {
        const sent = requests.map(({ wire }) => wire).join('');
        const parsed = requests
          .map(({ verb, wire }) => (verb === 'LIST' ? wire.replace('LIST', 'LINK') : wire))
          .join('');
        expect(parserInput(split(sent, splits))).toBe(parsed);
      }),
      { numRuns: 500 },
    );
  });

  test.each([
    ['two lengths', post('LIST ', 'Content-Length: 5', 'Content-Length: 5')],
    [
      'length and chunked',
      post('5\r\nLIST \r\n0\r\n\r\n', 'Content-Length: 5', 'Transfer-Encoding: chunked'),
    ],
    ['an odd length', post('LIST ', 'Content-Length: 5, 5')],
    ['a bare LF', 'GET / HTTP/1.1\nHost: a\r\n\r\n'],
    ['a long header block', `GET / HTTP/1.1\r\nX: ${'x'.repeat(1_000)}\r\n\r\n`],
    ['a bad chunk size', post('5 \r\nLIST \r\n0\r\n\r\n', 'Transfer-Encoding: chunked')],
    ['a chunk longer than its size', post('2\r\nLIST \r\n0\r\n\r\n', 'Transfer-Encoding: chunked')],
    [
      'a long chunk extension',
      post(`1;${'x'.repeat(1_000)}\r\nL\r\n0\r\n\r\n`, 'Transfer-Encoding: chunked'),
    ],
    ['a folded trailer', post('0\r\nX: 1\r\n y\r\n\r\n', 'Transfer-Encoding: chunked')],
    ['CONNECT', 'CONNECT a:1 HTTP/1.1\r\n\r\n'],
  ])('changes nothing after %s, in whatever pieces it arrives', (_what, doubtful) => {
    const sent = `${doubtful}LIST / HTTP/1.1\r\n\r\n`;
    expect(parserInput([sent])).toBe(sent);
    expect(parserInput([...sent])).toBe(sent);
  });

  test('changes nothing after an upgrade that the server may accept', () => {
    const sent = 'GET / HTTP/1.1\r\nUpgrade: x\r\n\r\nLIST ';
    expect(parserInput([sent], { ...rules, upgrades: true })).toBe(sent);
    expect(parserInput([sent])).toMatch(/LINK $/);
  });

  test('does not buffer more of a header block than its maximum size', () => {
    const framing = new RequestFraming(rules);
    const fed = Array.from({ length: 200 }, () => framing.feed(Buffer.from('x'.repeat(10))));
    expect(fed.indexOf(false)).toBeGreaterThan(90);
    expect(fed.indexOf(false)).toBeLessThan(110);
    expect(fed.at(-1)).toBe(false);
  });
});

import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { generatedRequests, generatedSplits, split } from '../../tests/generated-requests.ts';
import { RequestFraming } from './request-framing.ts';

const rules = { maxHeaderBytes: 1_000, upgrades: false };

/** What the parser would get, when the text arrives in these pieces. */
function after(pieces: readonly string[], given = rules): string {
  const framing = new RequestFraming(given);
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
  test('LIST and LINK change places, and only they', () => {
    expect(after(['LIST / HTTP/1.1\r\n\r\n'])).toBe('LINK / HTTP/1.1\r\n\r\n');
    expect(after(['LINK / HTTP/1.1\r\n\r\n'])).toBe('LIST / HTTP/1.1\r\n\r\n');
    for (const verb of ['GET', 'LOCK', 'LISK', 'LINT', 'LIS', 'list', 'XLIST', 'LI', 'L']) {
      expect(after([`${verb} /LIST HTTP/1.1\r\n\r\n`])).not.toMatch(/^(LIST|LINK) /);
    }
  });

  test('random requests, split anywhere: each verb is swapped, each other byte arrives as it was', () => {
    fc.assert(
      fc.property(generatedRequests, generatedSplits, (requests, splits) => {
        const sent = requests.map(({ wire }) => wire).join('');
        const parsed = requests
          .map(({ verb, wire }) => (verb === 'LIST' ? wire.replace('LIST', 'LINK') : wire))
          .join('');
        expect(after(split(sent, splits))).toBe(parsed);
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
  ])('after %s nothing is changed any more, however it arrives', (_what, doubtful) => {
    const sent = `${doubtful}LIST / HTTP/1.1\r\n\r\n`;
    expect(after([sent])).toBe(sent);
    expect(after([...sent])).toBe(sent);
  });

  test('an upgrade that may be honoured is the end of HTTP', () => {
    const sent = 'GET / HTTP/1.1\r\nUpgrade: x\r\n\r\nLIST ';
    expect(after([sent], { ...rules, upgrades: true })).toBe(sent);
    expect(after([sent])).toMatch(/LINK $/);
  });

  test('a header block without end is given up, not kept', () => {
    const framing = new RequestFraming(rules);
    const fed = Array.from({ length: 200 }, () => framing.feed(Buffer.from('x'.repeat(10))));
    expect(fed.indexOf(false)).toBeGreaterThan(90);
    expect(fed.indexOf(false)).toBeLessThan(110);
    expect(fed.at(-1)).toBe(false);
  });
});

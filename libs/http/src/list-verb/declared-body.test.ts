import { describe, expect, test } from '@jest/globals';
import { chunkBytes, declaredBody } from './declared-body.ts';

const head = (...lines: string[]) => ['POST /v1/x HTTP/1.1', 'Host: a', ...lines].join('\r\n');
const bodyOf = (text: string) => declaredBody(text, { upgrades: true });

describe('declaredBody', () => {
  test.each<[string, number | string]>([
    [head(), 0],
    ['GET / HTTP/1.0', 0],
    [head('Content-Length: 12'), 12],
    [head('content-length:0'), 0],
    [head('CONTENT-LENGTH: \t7 \t'), 7],
    [head('Transfer-Encoding: chunked'), 'chunked'],
    [head('transfer-encoding:Chunked '), 'chunked'],
    [head('Upgrade-Insecure-Requests: 1'), 0],
    [head('X-Content-Length: 5'), 0],
    [head('Content-Length-Was: 5'), 0],
  ])('%j announces %s', (text, body) => {
    expect(bodyOf(text)).toBe(body);
  });

  test.each([
    head('Content-Length: 5', 'Content-Length: 5'),
    head('Content-Length: 5', 'Transfer-Encoding: chunked'),
    head('Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'),
    head('Transfer-Encoding: gzip, chunked'),
    head('Transfer-Encoding: identity'),
    head('Content-Length: 5, 5'),
    head('Content-Length: +5'),
    head('Content-Length: 0x5'),
    head('Content-Length:'),
    head('Content-Length: 9999999999999999'),
    head('Content-Length : 5'),
    head('Content-Length'),
    head('X: 1', ' folded'),
    head('X: 1\nContent-Length: 5'),
    head('X: 1\rContent-Length: 5'),
    head('Upgrade: websocket'),
    'CONNECT a:1 HTTP/1.1\r\nHost: a',
    'GET /old',
    'GET / HTTP/2.0',
    'PRI * HTTP/2.0',
    'GET / HTTP/1.1 \r\nHost: a',
  ])('%j is doubtful', (text) => {
    expect(bodyOf(text)).toBe('doubtful');
  });

  test('ignores an upgrade on a server without upgrades', () => {
    const text = head('Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'Content-Length: 3');
    expect(declaredBody(text, { upgrades: false })).toBe(3);
  });
});

describe('chunkBytes', () => {
  test.each<[string, number | undefined]>([
    ['0', 0],
    ['1a', 26],
    ['FF;name=value', 255],
    ['', undefined],
    ['-1', undefined],
    ['0x5', undefined],
    ['5 ', undefined],
    ['fffffffffffff', undefined],
  ])('the size in %j is %s', (line, bytes) => {
    expect(chunkBytes(line)).toBe(bytes);
  });
});

import { expect, test } from '@jest/globals';
import { completeStatus } from './connection.ts';

const head = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n';

test('a response with a length is complete when so many bytes of its body have arrived', () => {
  const response = `${head}Content-Length: 4\r\n\r\nbody`;
  expect(completeStatus(response)).toBe(200);
  expect(completeStatus(response.slice(0, -1))).toBeUndefined();
});

test('a response in chunks is complete with its last chunk', () => {
  const response = `${head}Transfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n`;
  expect(completeStatus(response)).toBe(200);
  expect(completeStatus(response.slice(0, -7))).toBeUndefined();
});

test('a response is not complete before the end of its head', () => {
  expect(completeStatus(head)).toBeUndefined();
});

test('a response without content has no body to wait for', () => {
  expect(completeStatus('HTTP/1.1 204 No Content\r\n\r\n')).toBe(204);
});

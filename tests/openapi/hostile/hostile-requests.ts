import fc from 'fast-check';
import { type Drawing, type Operation, requestsOf } from '../operations.ts';
import { hostileJson } from './hostile-json.ts';

/** A request whose body, or what describes it, no client would send. */
export interface HostileRequest {
  operation: string;
  method: string;
  /** Below `/v1/`, with its query. */
  path: string;
  headers: Record<string, string>;
  body: Buffer;
  /** Whether its token has all rights, restricts parameters, or is absent. */
  as: 'root' | 'restricted' | 'nobody';
}

/** Hostile requests of one operation. */
export function hostileRequestsOf(operation: Operation, drawing: Drawing): fc.Arbitrary<HostileRequest> {
  return fc
    .tuple(requestsOf(operation, drawing), hostileJson, fc.nat(), encodings, headers, holders)
    .map(([{ operation: name, method, path, body }, odd, which, encode, more, as]) => ({
      operation: name,
      method,
      path,
      headers: more,
      body: encode(withOddField(body, odd, which)),
      as,
    }));
}

const holders = fc.oneof(
  { weight: 5, arbitrary: fc.constant('root' as const) },
  { weight: 2, arbitrary: fc.constant('restricted' as const) },
  { weight: 3, arbitrary: fc.constant('nobody' as const) },
);

/** The text of a body with odd JSON in the place of one of its fields, or of the whole. */
function withOddField(body: unknown, odd: string, which: number): string {
  if (typeof body !== 'object' || body === null || which % 4 === 0) return odd;
  const fields = Object.entries(body);
  const replaced = which % Math.max(1, fields.length);
  const texts = fields.map(
    ([name, value], at) => `${JSON.stringify(name)}:${at === replaced ? odd : JSON.stringify(value)}`,
  );
  return `{${texts.join(',')}}`;
}

type Encode = (text: string) => Buffer;
const utf8: Encode = (text) => Buffer.from(text);

/** Turns a text into the bytes that are sent: mostly UTF-8, now and then cut off or broken. */
const encodings: fc.Arbitrary<Encode> = fc.oneof(
  { weight: 12, arbitrary: fc.constant(utf8) },
  {
    weight: 2,
    arbitrary: fc.nat().map<Encode>((at) => (text) => utf8(text).subarray(0, at % (text.length + 1))),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(fc.nat(), fc.uint8Array({ maxLength: 4 })).map<Encode>(([at, bytes]) => (text) => {
      const whole = utf8(text);
      const cut = at % (whole.length + 1);
      return Buffer.concat([whole.subarray(0, cut), bytes, whole.subarray(cut)]);
    }),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Encode>(
      (text) => Buffer.from(text, 'utf16le'),
      (text) => Buffer.from(text, 'latin1'),
      (text) => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), utf8(text)]),
      (text) => utf8(`${text}${text}`),
      (text) => utf8(`\0${text}\0`),
      (text) => utf8(`${' '.repeat(100_000)}${text}`),
    ),
  },
);

const json = { 'content-type': 'application/json' };
const contentTypes = [
  'application/merge-patch+json',
  'application/json; charset=utf-16',
  'application/json;charset="utf-8"; boundary=;;;',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'text/plain',
  'application/json, text/html',
  '',
  'x'.repeat(4_000),
];

/** Headers beside the token, mostly ordinary ones. */
const headers: fc.Arbitrary<Record<string, string>> = fc.oneof(
  { weight: 10, arbitrary: fc.constant(json) },
  { weight: 2, arbitrary: fc.constantFrom(...contentTypes).map((type) => ({ 'content-type': type })) },
  {
    weight: 3,
    arbitrary: fc
      .constantFrom<Record<string, string>>(
        { 'x-service-wrap-ttl': '60' },
        { 'x-service-wrap-ttl': `1${'0'.repeat(400)}` },
        { 'x-vault-wrap-ttl': '-1s', 'x-service-wrap-ttl': '1h1h1h' },
        { 'x-service-namespace': '../..' },
        { 'x-service-namespace': 'team/'.repeat(1_000) },
        { 'x-service-namespace': '__proto__', 'x-request-id': '\xff' },
        { 'x-forwarded-for': '1.1.1.1, '.repeat(1_500), 'x-request-id': 'x'.repeat(129) },
        { 'content-encoding': 'gzip' },
        { expect: '100-continue', 'transfer-encoding': 'chunked' },
        { 'transfer-encoding': 'chunked' },
        { traceparent: '00-zz', authorization: `bearer ${'a'.repeat(8_000)}` },
        { 'last-event-id': '9'.repeat(5_000), 'if-match': '*' },
        { 'x-filler': 'x'.repeat(15_000) },
        { 'x-filler': 'x'.repeat(20_000) },
        Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`x-filler-${at}`, 'x'])),
      )
      .map((odd) => ({ ...json, ...odd })),
  },
);

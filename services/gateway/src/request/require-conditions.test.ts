import { describe, expect, test } from '@jest/globals';
import type { Conditions } from '@secrets/access';
import { requireConditions } from './require-conditions.ts';

const denied = 'permission denied';

const conditions: Conditions = {
  parameters: {
    allowed: new Map([['data', []]]),
    denied: new Map([['secret', []]]),
    required: ['data'],
  },
  minWrapSeconds: 0,
  maxWrapSeconds: 0,
};

function outcome(
  body: string | Buffer | undefined,
  forwardQuery = '',
  given: Conditions | undefined = conditions,
): string {
  const gatewayRequest = { path: 'a', operation: 'create-or-update', forwardQuery } as const;
  try {
    requireConditions(given, { gatewayRequest, body: typeof body === 'string' ? Buffer.from(body) : body });
    return 'permitted';
  } catch (problem) {
    return (problem as Error).message;
  }
}

const notJson = 'the body is not valid JSON';
const notObject = 'the request body must be a JSON object';

test('a write with the parameters that the rules require is permitted', () => {
  expect(outcome('{"data":{"a":1}}')).toBe('permitted');
  expect(outcome('\ufeff{"data":1}')).toBe('permitted'); // a byte order mark, which the services skip
});

test('without rules about parameters, the body is not parsed', () => {
  const wrapped = { ...conditions, parameters: undefined, maxWrapSeconds: 60 };
  expect(outcome('not JSON', '?x=1', wrapped)).toBe(denied); // is not wrapped
  const body = Buffer.from('not JSON');
  const gatewayRequest = { path: 'a', operation: 'create-or-update', forwardQuery: '' } as const;
  expect(() => requireConditions(wrapped, { gatewayRequest, body, wrapSeconds: 60 })).not.toThrow();
  expect(() => requireConditions(undefined, { gatewayRequest, body })).not.toThrow();
});

test.each([
  [60, 0, undefined, denied],
  [60, 0, 59, denied],
  [60, 0, 60, 'permitted'],
  [0, 60, undefined, denied],
  [0, 60, 1, 'permitted'],
  [0, 60, 61, denied],
  [30, 60, 45, 'permitted'],
])(
  'between %i and %i seconds, a response that is wrapped for %p seconds is %s',
  (min, max, wrapSeconds, expected) => {
    const wrapping = { parameters: undefined, minWrapSeconds: min, maxWrapSeconds: max };
    const gatewayRequest = { path: 'a', operation: 'read', forwardQuery: '' } as const;
    const check = () => requireConditions(wrapping, { gatewayRequest, body: undefined, wrapSeconds });
    if (expected === denied) expect(check).toThrow(denied);
    else expect(check).not.toThrow();
  },
);

describe('nothing gets past the rules', () => {
  test.each<[string, string | Buffer | undefined, string, string]>([
    ['by no body', undefined, '', denied],
    ['by an empty body', '', '', denied],
    ['by another name', '{"data":1,"other":1}', '', denied],
    ['by an escaped name', '{"data":1,"\\u0073ecret":1}', '', denied],
    ['by another letter case', '{"data":1,"SECRET":1}', '', denied],
    ['by a name twice', '{"data":1,"data":{"a":1}}', '', '"data" occurs twice in one JSON object'],
    ['by an escaped name twice', '{"data":1,"d\\u0061ta":2}', '', '"data" occurs twice in one JSON object'],
    ['by the query', '{"data":1}', '?secret=1', denied],
    ['by an escaped query', '{"data":1}', '?%73ecret=1', denied],
    ['by nested names in the query', '{"data":1}', '?data[a]=1', denied],
    ['by a query without a value', '{"data":1}', '?secret', denied],
    ['by a requirement in the query', '{}', '?data=1', denied],
    ['by a prototype', '{"data":1,"__proto__":{"secret":1}}', '', denied],
    ['by a prototype that has what is required', '{"__proto__":{"data":1}}', '', denied],
    ['by null', '{"data":null}', '', denied],
    ['by a list', '[{"secret":1}]', '', notObject],
    ['by text', '"data"', '', notObject],
    ['by text that is not JSON', 'data=1&secret=1', '', notJson],
    ['by two documents', '{"data":1}{"secret":1}', '', notJson],
    ['by comments', '{"data":1/*,"secret":1*/}', '', notJson],
    ['by another encoding', Buffer.from('{"data":1,"secret":1}', 'utf16le'), '', notJson],
    ['by bytes that are not UTF-8', Buffer.from('{"data":1,"secret\xff":1}', 'latin1'), '', notJson],
  ])('%s', (_way, body, query, expected) => expect(outcome(body, query)).toBe(expected));
});

test('a large body is checked without exhausting the stack', () => {
  expect(outcome(`{"data":${'['.repeat(300_000)}${']'.repeat(300_000)}}`)).toBe('permitted');
  expect(outcome(JSON.stringify({ data: 'x"\\'.repeat(150_000) }))).toBe('permitted');
});

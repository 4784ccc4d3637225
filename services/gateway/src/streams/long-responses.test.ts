import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { Problem } from '@secrets/domain';
import { LongResponses } from './long-responses.ts';

type Begin = Parameters<LongResponses['begin']>[0];
type Reviewed = Awaited<ReturnType<ConstructorParameters<typeof LongResponses>[0]['review']>>;

class Stream extends EventEmitter {
  readonly headersSent = true;
  ended: Problem | undefined;
  end(problem?: Problem): void {
    this.ended = problem;
    this.emit('close');
  }
}

let outcome: 'allowed' | 'forbidden' | 'unavailable';
const review = async ({ token }: { token: string | undefined }): Promise<Reviewed> =>
  (outcome === 'allowed'
    ? { allowed: true, caller: requestOf(token!).caller }
    : { allowed: false, problem: new Problem(outcome, 'no') }) as Reviewed;

const requestOf = (token: string, namespace = ''): Begin =>
  ({
    gatewayRequest: { token },
    caller: {
      policies: ['p'],
      identityPolicies: [],
      entityId: null,
      namespace: { id: namespace || 'root', path: namespace },
      tokenNamespace: { id: 'root', path: '' },
    },
    wrapSeconds: undefined,
  }) as unknown as Begin;

beforeEach(() => {
  outcome = 'allowed';
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

const responses = () =>
  new LongResponses({ review }, () => undefined, { all: 8, ofNamespace: 4, ofToken: 3 });

const openedBy = (held: LongResponses, request: Begin): Stream => {
  const stream = new Stream();
  held.begin(request, stream);
  return stream;
};

test('one namespace leaves room for the others', () => {
  const held = responses();
  for (const token of ['a', 'a', 'b', 'b']) openedBy(held, requestOf(token, 'tenant/'));
  expect(() => openedBy(held, requestOf('c', 'tenant/'))).toThrow(
    'too many streams of events and waits in this namespace',
  );
  for (const token of ['d', 'd', 'e']) openedBy(held, requestOf(token, ''));
  openedBy(held, requestOf('e', 'other/'));
  expect(() => openedBy(held, requestOf('f', ''))).toThrow('too many streams of events and waits');
});

test('one token has fewer than its namespace', () => {
  const held = responses();
  const [first] = Array.from({ length: 3 }, () => openedBy(held, requestOf('a')));
  expect(() => openedBy(held, requestOf('a'))).toThrow('with this token');
  first!.end();
  openedBy(held, requestOf('a'));
});

test('a stream ends within a second of its token', async () => {
  const stream = openedBy(responses(), requestOf('a'));
  await jest.advanceTimersByTimeAsync(1_000);
  expect(stream.ended).toBeUndefined();
  outcome = 'forbidden';
  await jest.advanceTimersByTimeAsync(1_000);
  expect(stream.ended).toMatchObject({ kind: 'forbidden' });
});

test('a stream outlives a database that is out of reach for less than ten seconds', async () => {
  const stream = openedBy(responses(), requestOf('a'));
  for (const next of ['unavailable', 'allowed', 'unavailable'] as const) {
    outcome = next;
    await jest.advanceTimersByTimeAsync(9_000);
    expect(stream.ended).toBeUndefined();
  }
  await jest.advanceTimersByTimeAsync(1_000);
  expect(stream.ended).toMatchObject({ kind: 'unavailable' });
});

import { expect, test } from '@jest/globals';
import { messagesOf } from './changes-relay.ts';

test('publishes one message for several outbox rows of one secret', () => {
  const rows = ['a', 'b', 'a'].map((secretId, index) => ({
    id: index,
    claimedUntil: '1',
    secretId,
    traceparent: null,
    toMatch: index === 2,
  }));
  const messages = messagesOf(rows).map(({ id, message }) => [id.map((row) => row.id), message]);
  expect(messages).toEqual([
    [[0, 2], { secret_id: 'a', to_match: true }],
    [[1], { secret_id: 'b', to_match: false }],
  ]);
});

test('a message belongs to the trace of the newest of its changes that is traced', () => {
  const rows = [null, 'first', 'second', null].map((traceparent, id) => ({
    id,
    claimedUntil: '1',
    secretId: 'a',
    traceparent,
    toMatch: false,
  }));
  for (const inAnyOrder of [rows, rows.toReversed()])
    expect(messagesOf(inAnyOrder).map(({ traceparent }) => traceparent)).toEqual(['second']);
});

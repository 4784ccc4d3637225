import { expect, test } from '@jest/globals';
import { messagesOf } from './changes-relay.ts';

test('publishes one message for several outbox rows of one secret', () => {
  const rows = ['a', 'b', 'a'].map((secretId, index) => ({
    id: index,
    claimedUntil: '1',
    secretId,
    traceparent: null,
  }));
  expect(messagesOf(rows).map(({ id, message }) => [id.map((row) => row.id), message.secret_id])).toEqual([
    [[0, 2], 'a'],
    [[1], 'b'],
  ]);
});

test('a message belongs to the trace of the newest of its changes that is traced', () => {
  const rows = [null, 'first', 'second', null].map((traceparent, id) => ({
    id,
    claimedUntil: '1',
    secretId: 'a',
    traceparent,
  }));
  for (const inAnyOrder of [rows, rows.toReversed()])
    expect(messagesOf(inAnyOrder).map(({ traceparent }) => traceparent)).toEqual(['second']);
});

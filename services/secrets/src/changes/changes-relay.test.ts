import { expect, test } from '@jest/globals';
import { messagesOf } from './changes-relay.ts';

test('publishes one message for several outbox rows of one secret', () => {
  const rows = ['a', 'b', 'a'].map((secretId, index) => ({ id: index, secretId }));
  expect(messagesOf(rows).map(({ id, message }) => [id, message.secret_id])).toEqual([
    [[0, 2], 'a'],
    [[1], 'b'],
  ]);
});

import { expect, test } from '@jest/globals';
import { testCaller } from '@secrets/http/testing';
import { eventually, useSyncControl } from '../sync-control-for-test.ts';

const sync = useSyncControl();
const queue = 'secret-changes';
const path = '/sys/sync/parked';

const depth = () => sync.broker.deadLetterDepth(queue);
const messages = async () => (await sync.call('GET', `${path}/${queue}`)).body.data.messages;
/** Reading dead letters hides them for a moment. */
const depthIs = (count: number) => eventually(async () => (await depth()) === count);

/** Publishes a message that sync-control cannot parse. */
async function park(text: string): Promise<void> {
  const before = await depth();
  await sync.broker.sendText(queue, text);
  await eventually(async () => (await depth()) === before + 1 && (await messages()).length === before + 1);
}

test('dead letters are counted, shown, sent again and discarded', async () => {
  await park('{"cut off');
  await depthIs(1);
  await park(`{"long": "${'x'.repeat(2_000)}"}`);
  await depthIs(2);
  const list = (await sync.call('LIST', path)).body.data;
  expect(list.keys).toContain('sync.clouda-sm');
  expect(list.key_info).toMatchObject({ [queue]: { messages: 2 }, 'sync.clouda-sm': { messages: 0 } });
  await depthIs(2);
  const { data } = (await sync.call('GET', `${path}/${queue}?limit=1`)).body;
  expect(data).toEqual({
    queue,
    messages: [{ message_id: expect.any(String), body: expect.any(String) }],
    total_messages: 2,
  });
  await depthIs(2);
  const bodies: string[] = (await messages()).map(({ body }: { body: string }) => body);
  expect(bodies.map(({ length }) => length).sort()).toEqual(['{"cut off'.length, 1_000].sort());
  await depthIs(2);
  const resent = await sync.call('POST', `${path}/${queue}/resend`, {});
  expect([resent.status, resent.body.data]).toEqual([200, { resent: 2 }]);
  await eventually(async () => (await messages()).length === 2); // sync-control still cannot parse them
  await depthIs(2);
  const discarded = await sync.call('POST', `${path}/${queue}/discard`);
  expect([discarded.status, discarded.body.data]).toEqual([200, { discarded: 2 }]);
  expect(await depth()).toBe(0);
});

test('single messages are selected by their IDs', async () => {
  await sync.broker.publish(queue, ['one', 'two']);
  await eventually(async () => (await messages()).length === 2);
  await depthIs(2);
  const [first, second] = await messages();
  await depthIs(2);
  const discard = (ids: string) => sync.call('POST', `${path}/${queue}/discard`, { message_ids: ids });
  expect((await discard(first.message_id)).body.data).toEqual({ discarded: 1 });
  await depthIs(1);
  expect(await messages()).toEqual([second]);
  await depthIs(1);
  expect((await discard(`${first.message_id},${second.message_id}`)).body.data).toEqual({ discarded: 1 });
  expect((await discard('')).body.errors).toEqual(['message_ids: must have between 1 and 1000 items']);
});

test('an unknown queue is a 404, and so is every other namespace', async () => {
  const elsewhere = testCaller({ namespace: { id: 'team', path: 'team' } });
  for (const [method, below] of [
    ['GET', ''],
    ['POST', '/resend'],
    ['POST', '/discard'],
  ] as const) {
    expect((await sync.call(method, `${path}/none${below}`)).status).toBe(404);
    expect((await sync.call(method, `${path}/${queue}${below}`, undefined, elsewhere)).status).toBe(404);
  }
  expect((await sync.call('LIST', path, undefined, elsewhere)).status).toBe(404);
});

test('sending again and discarding need `update`', async () => {
  const reader = testCaller({ policies: ['ci'], grants: ['create'] });
  expect((await sync.call('POST', `${path}/${queue}/resend`, {}, reader)).status).toBe(403);
  expect((await sync.call('POST', `${path}/${queue}/discard`, {}, reader)).status).toBe(403);
});

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Caller } from '@secrets/caller';
import type { Db } from '@secrets/db';
import { type FollowContext, onSecretChange } from '../../src/changes/on-secret-change.ts';
import type { SecretsClient } from '../../src/changes/secrets-client.ts';
import { advanceRules } from '../../src/destinations/rules/background/advance-rules.ts';
import { eventually } from '../sync-control-for-test.ts';
import { mayEverything } from './rules-for-test.ts';
import { type Stage, startStage } from './sequences/stage.ts';

// Two processes at the same time: one has read what is true no longer when it acts.

let stage: Stage;
let owner: Caller;

beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage?.stop());

const destination = '/sys/sync/destinations/cloudA-sm/d';

beforeEach(async () => {
  await stage.reset();
  owner = await mayEverything(stage);
  await stage.secrets('POST', '/sys/mounts/kv', { type: 'kv' });
  await stage.control('POST', destination, {});
  await tag('p');
  await stage.secrets('POST', '/kv/data/a', { data: { v: 1 } });
});

const tag = (sync: string) => stage.secrets('POST', '/kv/metadata/a', { custom_metadata: { sync } });
const write = (body: object) =>
  stage.control('POST', `${destination}/rules/r`, { mount: 'kv', ...body }, owner);
const writeRule = async (more: object = {}) => {
  const { status } = await write({ path: '*', metadata_match: { sync: 'p' }, ...more });
  expect(status).toBe(200);
};
const holds = () => stage.db.query('select from sync.rule_holds');

/** Follows what has changed, in one process. */
async function follow(process = stage.process()): Promise<void> {
  const changed = await stage.db.query<{ secret_id: string }>(
    'delete from secrets.outbox returning secret_id, to_match',
  );
  for (const message of changed) await onSecretChange(process, message, randomUUID());
}

/** Runs the rule until it is up to date, in one process. */
const run = (process = stage.process()) =>
  eventually(async () => {
    await stage.db.query("update sync.rules set due_at = now() where phase <> 'resting'");
    await advanceRules(process, () => false);
    return (await stage.db.query("select from sync.rules where phase <> 'resting'")).length === 0;
  });

/** A process that continues with what it has first read by a method only after `meanwhile`. */
function slow(method: 'places' | 'matching', meanwhile: () => Promise<unknown>): FollowContext {
  const process = stage.process();
  let isFirst = true;
  const { secrets } = process.context;
  const read = async (...request: never[]) => {
    const found = await (secrets[method] as (...given: never[]) => Promise<unknown>)(...request);
    if (isFirst) {
      isFirst = false;
      await meanwhile();
    }
    return found;
  };
  const slowed = { ...secrets, [method]: read } as SecretsClient;
  return { ...process, context: { ...process.context, secrets: slowed } };
}

const changeTo = (sync: string) => async () => {
  await tag(sync);
  await follow();
};

test('a secret whose metadata have changed since they were read is not held', async () => {
  await writeRule();
  await run();
  await tag('q');
  await follow();
  await tag('p');
  await follow(slow('places', changeTo('q')));
  expect(await holds()).toHaveLength(0);
});

test('a secret that matches again since its metadata were read stays held', async () => {
  await writeRule();
  await run();
  await tag('q');
  await follow(slow('places', changeTo('p')));
  expect(await holds()).toHaveLength(1);
});

test('a run holds no secret whose metadata have changed since it read its page', async () => {
  await stage.db.query('delete from secrets.outbox');
  await writeRule();
  await run(slow('matching', changeTo('q')));
  expect(await holds()).toHaveLength(0);
});

test('a run lets no secret go that matches again since it read its page', async () => {
  await writeRule();
  await run();
  await tag('q');
  await stage.db.query('delete from secrets.outbox');
  await stage.db.query("update sync.rules set due_at = now(), phase = 'resting'");
  await run(slow('matching', changeTo('p')));
  expect(await holds()).toHaveLength(1);
});

test('a secret is not let go for what a rule was before it was written', async () => {
  await writeRule();
  await run();
  await tag('q');
  const { db } = stage.process().context;
  let isFirst = true;
  const transaction: Db['transaction'] = async (work, options) => {
    if (isFirst) {
      isFirst = false;
      await writeRule({ metadata_match: {} });
    }
    return db.transaction(work, options);
  };
  await follow(stage.process({ ...db, transaction }));
  expect(isFirst).toBe(false);
  expect(await holds()).toHaveLength(1);
});

test('a secret that is set by hand in place of a deleted one is not held by the rules of that one', async () => {
  await writeRule();
  await run();
  await stage.secrets('DELETE', '/kv/metadata/a');
  await stage.secrets('POST', '/kv/data/a', { data: { v: 1 } });
  const body = { mount: 'kv', secret_name: 'a' };
  expect((await stage.control('POST', `${destination}/associations/set?wait=0`, body)).status).toBe(200);
  expect(await holds()).toHaveLength(0);
});

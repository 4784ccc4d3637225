import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Db } from '@secrets/db';
import { openTestDb } from '@secrets/schemas/testing';
import { createMetrics, silentLogger } from '@secrets/telemetry';
import type { Context } from '../../src/context.ts';
import { advanceRules } from '../../src/destinations/rules/background/advance-rules.ts';
import { recordOutcomes } from '../../src/destinations/rules/background/record-outcomes.ts';
import { measureRules } from '../../src/metrics/measure-rules.ts';
import { syncMetrics } from '../../src/metrics/sync-metrics.ts';

let db: Db;
let destinationId: string;

const mountId = randomUUID();

beforeAll(async () => {
  db = await openTestDb();
  await db.query(
    `insert into secrets.mounts (id, namespace_id, path, accessor, description) values ($1, 'root', 'kv', 'kv_1', '')`,
    [mountId],
  );
});
afterAll(() => db?.close());
beforeEach(async () => {
  await db.query('delete from sync.destinations');
  const [row] = await db.query<{ id: string }>(
    `insert into sync.destinations (namespace_id, namespace_path, type, name, settings)
     values ('root', '', 'cloudA-sm', 'd', '{}') returning id`,
  );
  destinationId = row!.id;
});

/** Inserts a rule that is not due, with these assignments. */
async function rule(assignments: string): Promise<string> {
  const id = randomUUID();
  await db.query(
    `insert into sync.rules (id, destination_id, name, mount_id, mount, path, beginning, exclude, metadata_match, sealed_owner, due_at)
     values ($1, $2, $3, $4, 'kv', '*', '', '{}', '{}', '', 'infinity')`,
    [id, destinationId, `r-${id}`, mountId],
  );
  await db.query(`update sync.rules set ${assignments} where id = $1`, [id]);
  return id;
}

function observed() {
  const metrics = createMetrics('test', { processMetrics: false });
  const value = async (name: string, labels = '') =>
    Number(new RegExp(`^${name}\\{${labels}service="test"\\} (.*)$`, 'm').exec(await metrics.text())?.[1]);
  return { ...syncMetrics(metrics), value };
}

async function measured(name: string): Promise<number> {
  const metrics = observed();
  await measureRules(db, metrics);
  return metrics.value(name);
}

test('without rules, everything is 0', async () => {
  for (const name of [
    'sync_rules_with_errors',
    'sync_rule_refusals',
    'sync_rules_oldest_due_seconds',
    'sync_rules_oldest_run_seconds',
  ])
    expect([name, await measured(name)]).toEqual([name, 0]);
});

test('rules with an error and refused secrets are counted', async () => {
  await rule("error = 'its owner is gone'");
  await rule("error = 'the mount no longer exists'");
  const id = await rule('error = null');
  const refusals = [1, 2, 3].map((n) => ({ secretId: randomUUID(), path: `p${n}` }));
  const refused = { kind: 'refused', reason: 'r' } as const;
  await recordOutcomes(
    { context: { db } as Context },
    id,
    refusals,
    refusals.map(() => refused),
  );
  expect(await measured('sync_rules_with_errors')).toBe(2);
  expect(await measured('sync_rule_refusals')).toBe(3);
});

test('the age is that of the rule whose last complete run is longest ago, without those that cannot run', async () => {
  await rule("last_run_at = now() - interval '1 hour'");
  await rule("created_at = now() - interval '2 hours'"); // it never ran
  await rule("last_run_at = now() - interval '1 day', error = 'e'");
  await rule("last_run_at = now() - interval '1 day', phase = 'ending'");
  expect(Math.round((await measured('sync_rules_oldest_run_seconds')) / 60)).toBe(120);
});

test('rules that wait to be continued are measured by the first one', async () => {
  await rule("due_at = now() + interval '1 minute'");
  expect(await measured('sync_rules_oldest_due_seconds')).toBe(0);
  await rule("due_at = now() - interval '5 minutes'");
  await rule("due_at = now() - interval '1 minute'");
  expect(Math.round((await measured('sync_rules_oldest_due_seconds')) / 60)).toBe(5);
});

test('what becomes of matches is counted, and the time of each page', async () => {
  const metrics = observed();
  const id = await rule("due_at = now(), updated_at = now() - interval '1 hour'");
  const context = {
    db,
    secrets: { matching: async () => ({ mount: { path: 'kv', accessor: 'kv_1' }, secrets: [], next: null }) },
  };
  const work = { context: context as unknown as Context, log: silentLogger(), counts: metrics.rules };
  await advanceRules(work, () => false);
  expect(await metrics.value('sync_rule_page_seconds_count')).toBe(1);
  const matches = [1, 2, 3].map((n) => ({ secretId: randomUUID(), path: `p${n}` }));
  const refused = { kind: 'refused', reason: 'r' } as const;
  await recordOutcomes(work, id, matches, [{ kind: 'associated' }, { kind: 'associated' }, refused]);
  const count = (outcome: string) => metrics.value('sync_rule_matches_total', `outcome="${outcome}",`);
  expect(await Promise.all(['associated', 'refused', 'postponed'].map(count))).toEqual([2, 1, 0]);
});

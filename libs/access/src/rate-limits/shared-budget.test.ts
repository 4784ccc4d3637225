import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Db, Sql } from '@secrets/db';
import { openTestDb } from '@secrets/schemas/testing';
import { budgetStore } from './budget-store.ts';
import { LeasedBudget, type RateLimit } from './shared-budget.ts';

let db: Db;
let statements = 0;
let now = 0;

beforeAll(async () => {
  db = await openTestDb();
});
afterAll(() => db.close());

const counting = (): Sql => ({
  query: (text, params) => {
    statements += 1;
    return db.query(text, params);
  },
});
const newGateway = () => new LeasedBudget(budgetStore(counting()), () => now);
let keys = 0;
const limitOf = (max: number, over: Partial<RateLimit> = {}): RateLimit => ({
  key: `key${++keys}`,
  max,
  intervalMs: 1_000,
  blockMs: 0,
  ...over,
});
/** Makes this number of requests at once, and returns how many of them were allowed. */
async function allowed(gateway: LeasedBudget, limit: RateLimit, requests: number): Promise<number> {
  const waits = await Promise.all(Array.from({ length: requests }, () => gateway.take(limit)));
  return waits.filter((wait) => wait === 0).length;
}
const nextInterval = () => {
  now = Math.ceil((Date.now() + 100_000) / 60_000 + ++keys) * 60_000;
};

describe('one gateway', () => {
  test.each([1, 2, 9, 10, 37, 100, 1_000])('allows exactly %s requests of an interval', async (max) => {
    nextInterval();
    const gateway = newGateway();
    const limit = limitOf(max);
    for (let interval = 0; interval < 3; interval += 1, now += 1_000) {
      let count = 0;
      for (let request = 0; request < max + 5; request += 1)
        if ((await gateway.take(limit)) === 0) count += 1;
      expect(count).toBe(max);
      expect(await allowed(gateway, limit, 20)).toBe(0);
    }
  });

  test('allows exactly as many of concurrent requests, with few statements', async () => {
    nextInterval();
    statements = 0;
    expect(await allowed(newGateway(), limitOf(500), 3_000)).toBe(500);
    expect(statements).toBeLessThan(40);
  });

  test('runs no statement for a key that uses little, and few for one that uses all', async () => {
    nextInterval();
    const gateway = newGateway();
    const limit = limitOf(1_000);
    statements = 0;
    for (let request = 0; request < 49; request += 1) expect(await gateway.take(limit)).toBe(0);
    expect(statements).toBe(0);
    for (let request = 49; request < 1_000; request += 1) expect(await gateway.take(limit)).toBe(0);
    expect(await gateway.take(limit)).toBeGreaterThan(0);
    expect(statements).toBeLessThan(60);
  });

  test('says when the interval ends', async () => {
    nextInterval();
    const gateway = newGateway();
    const limit = limitOf(1, { intervalMs: 10_000 });
    await gateway.take(limit);
    const wait = await gateway.take(limit);
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(10_000);
    now += wait;
    expect(await gateway.take(limit)).toBe(0);
  });
});

describe('gateways with one database', () => {
  test.each([
    [2, 10],
    [2, 50],
    [2, 100],
    [2, 1_000],
    [3, 100],
  ])('%s of them allow what is stated within a tenth: %s', async (count, max) => {
    nextInterval();
    const gateways = Array.from({ length: count }, newGateway);
    const limit = limitOf(max);
    for (let interval = 0; interval < 5; interval += 1, now += 1_000) {
      const each = await Promise.all(gateways.map((gateway) => allowed(gateway, limit, max * 2)));
      const total = each.reduce((sum, one) => sum + one, 0);
      expect(total).toBeGreaterThanOrEqual(Math.floor(max * 0.9));
      expect(total).toBeLessThanOrEqual(Math.ceil(max * 1.1));
    }
  });

  test('leave nearly all to the one that has requests', async () => {
    nextInterval();
    const [busy, quiet] = [newGateway(), newGateway()];
    const limit = limitOf(100);
    expect(await allowed(quiet, limit, 7)).toBe(7);
    expect(await allowed(busy, limit, 200)).toBeGreaterThanOrEqual(83);
  });

  test('block a key together', async () => {
    now = Date.now();
    const [first, second] = [newGateway(), newGateway()];
    const limit = limitOf(5, { blockMs: 30_000 });
    expect(await allowed(first, limit, 6)).toBe(5);
    now += 1_000;
    expect(await first.take(limit)).toBeGreaterThan(20_000);
    expect(await second.take(limit)).toBeGreaterThan(20_000);
    now += 30_000;
    expect(await first.take(limit)).toBe(0);
  });
});

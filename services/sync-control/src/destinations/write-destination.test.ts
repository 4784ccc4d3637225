import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Capability } from '@secrets/caller';
import type { Db } from '@secrets/db';
import { findDescription } from '@secrets/destinations';
import { testCaller } from '@secrets/http/testing';
import { openTestDb } from '@secrets/schemas/testing';
import { parseKeyRing } from '@secrets/seal';
import { writeDestination } from './write-destination.ts';

let db: Db;

beforeAll(async () => {
  db = await openTestDb();
}, 120_000);
afterAll(() => db.close());

const keyRing = parseKeyRing(randomBytes(32).toString('base64'), 'test');

const write = (grants: Capability[], region: string, mustExist = false) =>
  writeDestination(
    { db, keyRing, prefix: 'secrets' },
    testCaller({ policies: ['ci'], grants }),
    findDescription('cloudA-sm'),
    { name: 'main', body: { region }, mustExist },
  );

test('create does not change what is there, update creates nothing', async () => {
  await expect(write(['update'], 'eu-central-1')).rejects.toThrow('permission denied');
  await write(['create'], 'eu-central-1');
  await expect(write(['create'], 'eu-central-1')).rejects.toThrow('permission denied');
  await write(['update'], 'eu-central-1');
  await write(['patch'], 'eu-central-1', true);
});

test('nothing is created in a namespace that was just deleted', async () => {
  const gone = testCaller({ namespace: { id: 'gone', path: 'gone' }, grants: ['create'] });
  const request = { name: 'main', body: {}, mustExist: false };
  await expect(
    writeDestination({ db, keyRing, prefix: 'secrets' }, gone, findDescription('cloudA-sm'), request),
  ).rejects.toMatchObject({ kind: 'not_found' });
});

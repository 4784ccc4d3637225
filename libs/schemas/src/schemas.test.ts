import { readFileSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { migrate, prepareSchema } from '@secrets/db';
import { createTestDb, type TestDb } from '@secrets/db/testing';
import { describeSchemas, newestMigrations } from './describe-schemas.ts';
import { serviceSchemas } from './index.ts';

const file = new URL('../schema.sql', import.meta.url);
const log = { info: () => undefined, warn: () => undefined };

let db: TestDb;
beforeEach(async () => {
  db = await createTestDb();
});
afterEach(() => db.close());

const described = async () =>
  `${newestMigrations()}\n${await describeSchemas(
    db,
    serviceSchemas.map(({ schema }) => schema),
  )}`;

test('schema.sql shows what the migrations create (UPDATE_SCHEMA=1 writes it)', async () => {
  for (const one of serviceSchemas) await migrate(db, one);
  const text = await described();
  if (process.env.UPDATE_SCHEMA === '1') writeFileSync(file, text);
  expect(text).toBe(readFileSync(file, 'utf8'));
});

test('services may start in any order: each waits for the schemas to which its own refers', async () => {
  await Promise.all([...serviceSchemas].reverse().map((one) => prepareSchema(db, one, log)));
  expect(await described()).toBe(readFileSync(file, 'utf8'));
});

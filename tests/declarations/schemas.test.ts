import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { newestMigrations } from '../../libs/schemas/src/describe-schemas.ts';

test('schema.sql was written with the newest migrations: UPDATE_SCHEMA=1 npm test -- libs/schemas', () => {
  const named = readFileSync('libs/schemas/schema.sql', 'utf8').split('\n\n')[0];
  expect(`${named}\n`).toBe(newestMigrations());
});

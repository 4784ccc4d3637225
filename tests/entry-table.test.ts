import { globSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';

// The other rules about who may use what are imports, which .dependency-cruiser.mjs checks. This one is in SQL text.
test('only libs/sync-entries reads and writes the entry table', () => {
  const statement = /\b(from|join|into|update|table)\s+sync\.entries\b/i;
  const files = globSync('{libs,services}/*/src/**/*.ts', { cwd: `${import.meta.dirname}/..` });
  const offenders = files.filter(
    (file) =>
      !file.endsWith('.test.ts') &&
      !file.startsWith('libs/sync-entries/') &&
      statement.test(readFileSync(`${import.meta.dirname}/../${file}`, 'utf8')),
  );
  expect(files.length).toBeGreaterThan(0);
  expect(offenders).toEqual([]);
});

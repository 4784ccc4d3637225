import { expect, test } from '@jest/globals';
import { newestVersion } from './api-versions.ts';

const versionOf = (...apiVersions: string[]) =>
  newestVersion([{ resourceType: 'Sites/slots', apiVersions }], 'sites/Slots');

test('is the newest that is not a preview', () => {
  expect(versionOf('2024-04-01', '2025-01-01-preview', '2024-11-01', '2023-01-01')).toBe('2024-11-01');
});

test('is the newest preview if there are no others', () => {
  expect(versionOf('2024-04-01-preview', '2025-01-01-alpha')).toBe('2025-01-01-alpha');
});

test('is unknown for a type that the namespace does not have', () => {
  expect(
    newestVersion([{ resourceType: 'sites', apiVersions: ['2024-11-01'] }], 'sites/slots'),
  ).toBeUndefined();
  expect(versionOf('latest')).toBeUndefined();
});

import { expect, test } from '@jest/globals';
import { credentialsAad } from './credentials-aad.ts';
import { settingsOf } from './description.ts';
import { fieldsThat } from './fields/field.ts';
import { destinationTypes } from './registry.ts';

const bound = (type: string, settings: Record<string, unknown>) =>
  credentialsAad({ id: 'd', type, settings }).bound;

test('every field of every type that says how the store is reached is bound to the credentials, and no other', () => {
  for (const [type, description] of Object.entries(destinationTypes)) {
    const changing = fieldsThat(description, (field) => 'default' in field).filter(
      (name) => bound(type, { [name]: 'other' }) !== bound(type, {}),
    );
    expect(changing).toEqual(fieldsThat(description, ({ place }) => place === 'connection'));
  }
});

test('stored settings and the same ones with defaults are bound alike, in any order', () => {
  const stored = { repository_owner: 'o', repository_name: 'r', installation_id: '12' };
  const complete = settingsOf(destinationTypes.codehost!, stored);
  expect(bound('codehost', complete)).toBe(bound('codehost', stored));
  expect(bound('codehost', Object.fromEntries(Object.entries(complete).reverse()))).toBe(
    bound('codehost', stored),
  );
});

test('the plain form contains the ID alone', () => {
  const { plain } = credentialsAad({ id: 'd', type: 'cloudA-sm', settings: { region: 'eu-central-1' } });
  expect(plain).toBe('sync.destinations:d');
});

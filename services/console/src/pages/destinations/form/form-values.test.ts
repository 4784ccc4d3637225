import { describe, expect, it } from '@jest/globals';
import type { FormField } from './destination-types.ts';
import { changedSettings, initialValues, mask, problemsByField } from './form-values.ts';

const field = (name: string, kind: FormField['kind'], initial: unknown = ''): FormField => ({
  name,
  kind,
  initial,
  help: '',
  group: 'content',
  choices: [],
  isRequired: false,
  isImmutable: false,
  isPushed: false,
});

const fields = [
  field('region', 'text'),
  field('secret_access_key', 'secret'),
  field('replica_regions', 'list', []),
  field('custom_tags', 'map', {}),
  field('disable_strict_networking', 'flag', false),
];

const stored = {
  region: 'eu-west-1',
  secret_access_key: mask,
  replica_regions: ['eu-west-2'],
  custom_tags: { team: 'shop', stage: 'prod' },
};

describe('the form of a destination', () => {
  it('sends nothing that was not changed, so that a secret that is shown as asterisks is kept', () => {
    const values = initialValues(fields, stored);
    expect(changedSettings(fields, values, values)).toEqual({});
  });

  it('sends a new secret, and an empty one to remove it', () => {
    const values = initialValues(fields, stored);
    const changes = (secret: string) =>
      changedSettings(fields, values, { ...values, secret_access_key: secret });
    expect(changes('new')).toEqual({ secret_access_key: 'new' });
    expect(changes('')).toEqual({ secret_access_key: '' });
  });

  it('restores the default of a text that was cleared', () => {
    const values = initialValues(fields, stored);
    expect(changedSettings(fields, values, { ...values, region: ' ' })).toEqual({ region: null });
  });

  it('takes an item of a list from each line or after each comma', () => {
    const values = initialValues(fields, stored);
    expect(values.replica_regions).toBe('eu-west-2');
    const after = { ...values, replica_regions: 'eu-west-2\n eu-west-3, us-east-1\n' };
    expect(changedSettings(fields, values, after)).toEqual({
      replica_regions: ['eu-west-2', 'eu-west-3', 'us-east-1'],
    });
  });

  it('removes the tags whose lines are gone', () => {
    const values = initialValues(fields, stored);
    const after = { ...values, custom_tags: 'team = pay\nurl = a=b' };
    expect(changedSettings(fields, values, after)).toEqual({
      custom_tags: { team: 'pay', stage: null, url: 'a=b' },
    });
  });

  it('shows a refusal at the field that it names, and leaves out others', () => {
    const sentences = [
      'region: must be a region',
      'replica_regions.0: must not be empty',
      'sync is down: wait',
    ];
    expect(problemsByField(fields, sentences)).toEqual({
      region: 'must be a region',
      replica_regions: 'must not be empty',
    });
  });
});

import { describe, expect, it } from '@jest/globals';
import { fieldsOf, metadataPatch, valuesOf } from './rule-values.ts';

const values = { ...valuesOf(undefined), mount: 'kv', path: ' shop/* ', owner: ' e-1 ' };

describe('the fields of a rule', () => {
  it('are what was entered, without empty lines and pairs', () => {
    const entered = {
      ...values,
      exclude: 'shop/old\n\n shop/tmp* \n',
      metadata: [
        { key: 'sync', value: 'prod' },
        { key: ' ', value: 'x' },
      ],
    };
    expect(fieldsOf(entered, true)).toEqual({
      mount: 'kv',
      path: 'shop/*',
      exclude: ['shop/old', 'shop/tmp*'],
      metadata_match: { sync: 'prod' },
      owner: 'e-1',
    });
  });

  it('name no owner without permission, and without one', () => {
    expect(fieldsOf(values, false)).not.toHaveProperty('owner');
    expect(fieldsOf({ ...values, owner: ' ' }, true)).not.toHaveProperty('owner');
  });

  it('remove the metadata that are gone', () => {
    expect(metadataPatch({ a: '1', b: '2' }, { b: '3', c: '4' })).toEqual({ a: null, b: '3', c: '4' });
  });
});

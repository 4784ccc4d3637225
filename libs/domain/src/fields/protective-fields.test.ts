import { expect, test } from '@jest/globals';
import { refuseProtective } from './protective-fields.ts';

test.each<[string, unknown]>([
  ['metadata_cas', 0],
  ['options.cas', 0],
  ['cas', 3],
  ['metadata_cas_required', true],
  ['kms_key_id', 'arn:x'],
  ['global_kms_key', 'k'],
  ['locational_kms_keys', [{ a: 'b' }]],
  ['customer_managed_encryption', true],
  ['sensitive', 'true'],
  ['replica_regions', ['a']],
  ['token_bound_cidrs', '10.0.0.0/8'],
  ['bound_claims', { a: 'b' }],
  ['token_strictly_bind_ip', true],
  ['expiration', '2030-01-01T00:00:00Z'],
  ['ttl', '1h'],
  ['lease', 60],
  ['wrap_ttl', '60s'],
  ['TTL', '1h'],
  ['dry_run', true],
])('%s: %j is refused, with its path', (path, value) => {
  expect(() => refuseProtective(path, value)).toThrow(`${path}: is not supported here`);
});

test.each<[string, unknown]>([
  ['metadata_cas_required', false],
  ['sensitive', 'false'],
  ['kms_key_id', ''],
  ['seal', ''],
  ['replica_regions', []],
  ['ttl', 0],
  ['metadata_cas', null],
  ['cascade', true],
  ['description', 'x'],
  ['case', 1],
  ['format', 'x'],
])('%s: %j may be ignored', (path, value) => {
  expect(() => refuseProtective(path, value)).not.toThrow();
});

import { expect, test } from '@jest/globals';
import type { Outcome } from '../../load/operation.ts';
import { operation } from './histories.ts';
import { checkTokens } from './tokens.ts';

const use = (at: number, outcome: Outcome) =>
  operation({ act: 'read', key: 's', token: 't' }, [at, at + 1], { outcome });
const revoke = (outcome: Outcome) => operation({ act: 'revoke', token: 't' }, [10, 20], { outcome });

test('a use before or during the revocation, and a refused one after it, is fine', () => {
  expect(
    checkTokens([use(5, 'ok'), revoke('ok'), use(15, 'ok'), use(21, 'failed'), use(22, 'unknown')]),
  ).toEqual([]);
});

test('a use that was accepted after the acknowledged revocation is found', () => {
  expect(checkTokens([revoke('ok'), use(25, 'ok')])).toEqual([
    'gateway accepted a token 5 ms after its revocation was acknowledged',
  ]);
});

test('a revocation whose outcome is unknown proves nothing', () => {
  expect(checkTokens([revoke('unknown'), use(25, 'ok')])).toEqual([]);
});

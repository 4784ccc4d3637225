import { expect, test } from '@jest/globals';
import { readConfig } from '@secrets/config';
import { Env, toConfig } from './config.ts';

const required = { DATABASE_URL: 'd', AMQP_URL: 'a', SEAL_KEY_FILE: 's', INTERNAL_KEY_FILE: 'i' };
const sweepSeconds = (env: Record<string, string>) =>
  toConfig(readConfig(Env, { ...required, ...env })).lost?.sweepSeconds;

test('takes the pause of the sweep from LOST_SWEEP_SECONDS, or from its earlier name', () => {
  expect(sweepSeconds({})).toBe(2);
  expect(sweepSeconds({ SWEEP_SECONDS: '3' })).toBe(3);
  expect(sweepSeconds({ SWEEP_SECONDS: '3', LOST_SWEEP_SECONDS: '0.5' })).toBe(0.5);
});

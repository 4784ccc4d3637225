import { expect, test } from '@jest/globals';
import { freePorts } from './free-ports.ts';

test('a port is returned once, also before a program listens on it', async () => {
  const [some, others] = await Promise.all([freePorts(200), freePorts(200)]);
  const more = await freePorts(200);
  expect(new Set([...some, ...others, ...more]).size).toBe(600);
});

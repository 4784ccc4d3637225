import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { commaList, port, readConfig, toggle } from './read-config.ts';

const Env = z.object({
  PORT: port.default(7),
  URL: z.string().url(),
  SANDBOX: toggle.default(true),
  LIST: commaList.optional(),
});

test('converts values and applies defaults', () => {
  expect(readConfig(Env, { URL: 'http://a', SANDBOX: 'off', LIST: 'a, b,' })).toEqual({
    PORT: 7,
    URL: 'http://a',
    SANDBOX: false,
    LIST: ['a', 'b'],
  });
});

test('names missing and invalid variables, never their values', () => {
  const read = () => readConfig(Env, { PORT: 'canary', URL: '' });
  expect(read).toThrow(/URL: is required/);
  expect(read).toThrow(/PORT: /);
  expect(read).not.toThrow(/canary/);
});

import { expect } from '@jest/globals';
import { CommandProcess } from '../command-process.ts';
import type { Pods } from '../pods.ts';

/** A command of `main.go`. */
interface Command {
  do: 'get' | 'map' | 'find' | 'exists' | 'push' | 'delete' | 'validate';
  key?: string;
  property?: string;
  version?: string;
  value?: string;
}

/** The Vault provider of External Secrets, as a process. */
type ExternalSecrets = CommandProcess<Command>;

/**
 * Reads, follows, pushes and deletes secrets as the controllers do, with a token that External Secrets requests from the cluster
 * for each login. `CACHE` keeps the token of a login, as its flag of this name does.
 */
export async function useExternalSecrets(program: string, pods: Pods): Promise<void> {
  for (const CACHE of ['off', 'on']) {
    const client: ExternalSecrets = new CommandProcess(program, { ...pods.env, CACHE });
    try {
      await readAndFollow(client, pods);
      await push(client);
      await surviveFaults(client, pods);
    } finally {
      await client.end();
    }
  }
}

async function readAndFollow(client: ExternalSecrets, pods: Pods): Promise<void> {
  const key = 'shop/db';
  await pods.setUser('a');
  expect(await client.result({ do: 'validate' })).toBe(0); // ready
  expect(await client.result({ do: 'get', key })).toBe('{"user":"a"}');
  expect(await client.result({ do: 'get', key, property: 'user' })).toBe('a');
  expect(await client.result({ do: 'map', key })).toEqual({ user: 'a' });
  expect(await client.result({ do: 'find', key: 'shop' })).toEqual({ 'shop/db': '{"user":"a"}' });
  await pods.setUser('b');
  expect(await client.result({ do: 'get', key, property: 'user' })).toBe('b');
  expect(await client.result({ do: 'exists', key: 'shop/none' })).toBe(false);
  expect((await client.outcome({ do: 'get', key: 'other/db' })).error).toContain('403');
}

async function push(client: ExternalSecrets): Promise<void> {
  const pushed = { key: 'team/pushed', property: 'password' };
  await client.result({ do: 'push', ...pushed, value: 'x' });
  await client.result({ do: 'push', ...pushed, value: 'y' });
  expect(await client.result({ do: 'get', ...pushed })).toBe('y');
  expect(await client.result({ do: 'get', ...pushed, version: '1' })).toBe('x');
  expect(await client.result({ do: 'exists', ...pushed })).toBe(true);
  await client.result({ do: 'delete', ...pushed });
  expect(await client.result({ do: 'exists', ...pushed })).toBe(false);
  expect(
    (await client.outcome({ do: 'push', key: 'shop/db', property: 'user', value: 'z' })).error,
  ).toBeDefined();
}

async function surviveFaults(client: ExternalSecrets, pods: Pods): Promise<void> {
  await pods.revokeTokens();
  expect(await client.result({ do: 'get', key: 'shop/db', property: 'user' })).toBe('b');
  await pods.restart();
  expect(await client.result({ do: 'get', key: 'shop/db', property: 'user' })).toBe('b');
}

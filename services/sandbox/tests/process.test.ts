import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import {
  CreateSecretCommand,
  DeleteSecretCommand,
  GetSecretValueCommand,
  PutSecretValueCommand,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createRemoteJWKSet, decodeJwt, jwtVerify } from 'jose';

let folder: string;
let children: ChildProcess[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sandbox-'));
});
afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  children = [];
  rmSync(folder, { recursive: true });
});

/** Starts the service and returns the URL from the log entry that says it is ready. */
async function startService() {
  const child = spawn(process.execPath, [join(import.meta.dirname, '../src/main.ts')], {
    env: { PORT: '0', DATA_FILE: join(folder, 'journal.jsonl') },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const entry = JSON.parse(line) as { msg: string; url: string };
  expect(entry.msg).toBe('ready');
  return { child, url: entry.url };
}

async function end(child: ChildProcess, signal: NodeJS.Signals) {
  const exited = once(child, 'exit');
  child.kill(signal);
  const [code] = await exited;
  return code;
}

async function clientAt(url: string) {
  const { stores } = (await (await fetch(`${url}/_sandbox/about`)).json()) as {
    stores: { 'cloudA-sm': { path: string; credentials: { accessKeyId: string; secretAccessKey: string } } };
  };
  const { path, credentials } = stores['cloudA-sm'];
  return new SecretsManagerClient({
    endpoint: `${url}${path}`,
    region: 'eu-west-1',
    credentials,
    maxAttempts: 1,
  });
}

async function issueToken(url: string) {
  const response = await fetch(`${url}/_sandbox/directory/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ identity: 'web-1', audience: 'a' }),
  });
  return ((await response.json()) as { token: string }).token;
}

test('acknowledged changes survive a killed process', async () => {
  const first = await startService();
  const client = await clientAt(first.url);
  const Tags = [{ Key: 'owner', Value: 'me' }];
  await client.send(new CreateSecretCommand({ Name: 'kept', SecretString: 'one', Tags }));
  await client.send(new PutSecretValueCommand({ SecretId: 'kept', SecretString: 'two' }));
  await client.send(new CreateSecretCommand({ Name: 'going', SecretString: 'x' }));
  await client.send(new DeleteSecretCommand({ SecretId: 'going', RecoveryWindowInDays: 7 }));
  await end(first.child, 'SIGKILL');

  const second = await startService();
  const restarted = await clientAt(second.url);
  const read = (input: object) => restarted.send(new GetSecretValueCommand({ SecretId: 'kept', ...input }));
  expect((await read({})).SecretString).toBe('two');
  expect((await read({ VersionStage: 'AWSPREVIOUS' })).SecretString).toBe('one');
  const { stores } = (await (await fetch(`${second.url}/_sandbox/stores`)).json()) as {
    stores: { 'cloudA-sm': { secrets: object[] } };
  };
  const kept = { name: 'kept', tags: { owner: 'me' }, version_count: 2, deleted_at: null };
  const going = { name: 'going', deleted_at: expect.any(String) };
  expect(stores['cloudA-sm'].secrets).toHaveLength(2);
  expect(stores['cloudA-sm'].secrets).toEqual(
    expect.arrayContaining([expect.objectContaining(kept), expect.objectContaining(going)]),
  );
});

test("the directory's signing keys survive a killed process", async () => {
  const first = await startService();
  const token = await issueToken(first.url);
  await end(first.child, 'SIGKILL');
  const second = await startService();
  const { tid } = decodeJwt(token);
  const keys = createRemoteJWKSet(new URL(`${second.url}/directory/${tid}/discovery/v2.0/keys`));
  expect((await jwtVerify(token, keys)).payload.aud).toBe('a');
});

test('SIGTERM ends the process with status 0', async () => {
  const { child } = await startService();
  expect(await end(child, 'SIGTERM')).toBe(0);
});

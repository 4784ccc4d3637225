import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateSecretCommand } from '@aws-sdk/client-secrets-manager';
import { expect, test } from '@jest/globals';
import { eventually } from '@secrets/testing';
import { startSandbox } from '../src/sandbox.ts';
import { cloudAClient } from './stores/clouda/clouda-harness.ts';

test('credentials, tenant and identities are derived from the seed', async () => {
  const [one, same, other] = await Promise.all([
    startSandbox({ seed: 'x' }),
    startSandbox({ seed: 'x' }),
    startSandbox({ seed: 'y' }),
  ]);
  expect(same.credentials).toEqual(one.credentials);
  expect(same.tenantId).toBe(one.tenantId);
  expect(same.directory.identities).toEqual(one.directory.identities);
  expect(other.credentials).not.toEqual(one.credentials);
  expect(other.tenantId).not.toBe(one.tenantId);
  await Promise.all([one.stop(), same.stop(), other.stop()]);
});

test('a reset survives a restart', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sandbox-'));
  const dataFile = join(folder, 'journal.jsonl');
  const first = await startSandbox({ dataFile });
  const client = cloudAClient(first);
  const create = (Name: string) => client.send(new CreateSecretCommand({ Name, SecretString: 'x' }));
  await create('before');
  first.reset();
  await create('after');
  client.destroy();
  await first.stop();
  const second = await startSandbox({ dataFile });
  expect(second.cloudA.secrets().map(({ name }) => name)).toEqual(['after']);
  await second.stop();
  rmSync(folder, { recursive: true });
});

test('stop ends unanswered calls', async () => {
  const sandbox = await startSandbox();
  sandbox.directory.faults.add({ effect: 'silence' });
  const unanswered = fetch(`${sandbox.directoryUrl}/${sandbox.tenantId}/discovery/v2.0/keys`).catch(
    () => 'ended',
  );
  await eventually(() => sandbox.directory.calls().length === 1);
  await sandbox.stop();
  expect(await unanswered).toBe('ended');
});

test('a request body that is too large is rejected', async () => {
  const sandbox = await startSandbox();
  const response = await fetch(sandbox.cloudAUrl, { method: 'POST', body: 'x'.repeat(3_000_000) });
  expect(response.status).toBe(413);
  await sandbox.stop();
});

test('the page loads nothing from other origins and runs only its own script', async () => {
  const sandbox = await startSandbox();
  const response = await fetch(`${sandbox.url}/`);
  const text = await response.text();
  expect(text).toContain('This is a sandbox');
  expect(text).not.toMatch(/(src|href)=|innerHTML/);
  const [, nonce, script = ''] = /<script nonce="([^"]+)">([\s\S]+)<\/script>/.exec(text) ?? [];
  expect(response.headers.get('content-security-policy')).toContain(`script-src 'nonce-${nonce}'`);
  expect(script).toContain('stores?limit=200');
  expect(() => new Function(script)).not.toThrow();
  await sandbox.stop();
});

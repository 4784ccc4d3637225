import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CreateSecretCommand,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { startSandbox } from '../src/sandbox.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sandbox-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

async function clientAt(url: string) {
  const about = (await (await fetch(`${url}/_sandbox/about`)).json()) as {
    stores: { 'cloudA-sm': { path: string; credentials: { accessKeyId: string; secretAccessKey: string } } };
  };
  const { path, credentials } = about.stores['cloudA-sm'];
  return new SecretsManagerClient({
    endpoint: `${url}${path}`,
    region: 'eu-west-1',
    credentials,
    maxAttempts: 1,
  });
}

describe('durability', () => {
  test('a reset is kept too', async () => {
    const dataFile = join(folder, 'journal.jsonl');
    const first = await startSandbox({ dataFile });
    const client = await clientAt(first.url);
    await client.send(new CreateSecretCommand({ Name: 'forgotten', SecretString: 'x' }));
    first.reset();
    await first.stop();
    const second = await startSandbox({ dataFile });
    expect(second.cloudA.secrets()).toEqual([]);
    await second.stop();
  });
});

describe('composition', () => {
  test('the same seed gives the same credentials, tenant and identities; another gives others', async () => {
    const [one, same, other] = await Promise.all([
      startSandbox({ seed: 'x' }),
      startSandbox({ seed: 'x' }),
      startSandbox({ seed: 'y' }),
    ]);
    expect(same.credentials).toEqual(one.credentials);
    expect(same.directory.identities).toEqual(one.directory.identities);
    expect(other.credentials).not.toEqual(one.credentials);
    expect(other.tenantId).not.toBe(one.tenantId);
    await Promise.all([one.stop(), same.stop(), other.stop()]);
  });

  test('stops at once although a call is left unanswered', async () => {
    const sandbox = await startSandbox();
    sandbox.directory.faults.add({ effect: 'silence' });
    const hanging = fetch(`${sandbox.directoryUrl}/${sandbox.tenantId}/discovery/v2.0/keys`).catch(
      () => 'ended',
    );
    while (sandbox.directory.calls().length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await sandbox.stop();
    expect(await hanging).toBe('ended');
  });

  test('a body that is too large is refused', async () => {
    const sandbox = await startSandbox();
    const answer = await fetch(sandbox.cloudAUrl, { method: 'POST', body: 'x'.repeat(3_000_000) });
    expect(answer.status).toBe(413);
    await sandbox.stop();
  });
});

describe('page', () => {
  test('says what it is, loads nothing from elsewhere, and runs only its own script', async () => {
    const sandbox = await startSandbox();
    const answer = await fetch(`${sandbox.url}/`);
    const text = await answer.text();
    expect(text).toContain('This is a sandbox');
    expect(text).not.toMatch(/(src|href)=|innerHTML/);
    const nonce = /<script nonce="([^"]+)">/.exec(text)?.[1] ?? 'none';
    expect(answer.headers.get('content-security-policy')).toContain(`script-src 'nonce-${nonce}'`);
    const script = /<script[^>]*>([\s\S]*)<\/script>/.exec(text)?.[1] ?? '';
    expect(() => new Function(script)).not.toThrow();
    await sandbox.stop();
  });
});

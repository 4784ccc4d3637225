import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { expectStatus } from '../../../tests/harness/http.ts';
import { type Installation, startInstallation } from '../../../tests/harness/installation.ts';
import { runCli } from './cli-for-test.ts';

describe('secrets-sync', () => {
  let service: Installation;
  let home: string;

  /** Runs the program as the operator. */
  const run = (args: string[], { env = {}, input = '' }: { env?: NodeJS.ProcessEnv; input?: string } = {}) =>
    runCli(args, { HOME: home, VAULT_ADDR: service.url, VAULT_TOKEN: service.rootToken, ...env }, input);

  const destination = async (name: string, fields: object = {}) =>
    service.api('POST', `sys/sync/destinations/cloudA-sm/${name}`, {
      region: 'eu-west-1',
      ...(await service.sandbox.credentials()),
      ...fields,
    });

  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), 'cli-'));
    service = await startInstallation();
    expectStatus(await service.api('POST', 'sys/mounts/kv', { type: 'kv' }), 204);
    for (const name of ['a', 'b', 'c'])
      expectStatus(await service.api('POST', `kv/data/${name}`, { data: { key: name } }), 200);
    expectStatus(await destination('good'), 200);
    expectStatus(await destination('bad', { secret_access_key: 'wrong' }), 200);
  });
  afterAll(async () => {
    await service?.stop();
    rmSync(home, { recursive: true });
  });

  test('plans, sets, waits, inspects and removes', async () => {
    const planned = await run(['plan', 'cloudA-sm/good', '--mount', 'kv', 'a', 'nothing']);
    expect([planned.code, planned.out]).toEqual([1, expect.stringMatching(/^kv\/a .* new$/m)]);
    expect(planned.out).toMatch(/^kv\/nothing .*refused.*there is no secret nothing in mount kv$/m);
    expect(await run(['set', 'cloudA-sm/good', '--mount', 'kv', 'a', 'b'])).toEqual({
      code: 0,
      out: 'SECRET  STATUS  ERROR\nkv/a    SYNCED\nkv/b    SYNCED\n',
      err: '',
    });
    const waited = await run(['wait', '--mount', 'kv', 'a', '--timeout', '30s']);
    expect([waited.code, waited.out]).toEqual([0, 'version 1 of kv/a has arrived in 1 destinations\n']);
    expect((await run(['plan', '--look', 'cloudA-sm/good', '--mount', 'kv', 'a'])).out).toMatch(
      /^kv\/a .* kept$/m,
    );
    expect((await run(['inspect', 'cloudA-sm/good', '--mount', 'kv', 'a'])).out).toMatch(/SYNCED {2}none$/m);
    const removed = await run(['remove', 'cloudA-sm/good', '--mount', 'kv', '-'], { input: 'b\n\n' });
    expect([removed.code, removed.out]).toEqual([0, expect.stringContaining('kv/b    UNSYNCED')]);
  });

  test('exits with 1 for what has failed, and lists it', async () => {
    const set = await run(['set', 'cloudA-sm/bad', '--mount', 'kv', 'c']);
    expect([set.code, set.err]).toEqual([1, '1 of 1 have failed\n']);
    const listed = await run(['failed']);
    expect([listed.code, listed.out]).toEqual([
      1,
      expect.stringMatching(/^cloudA-sm\/bad +kv\/c .*CLIENT_SIDE_ERROR/m),
    ]);
    expect(await run(['failed', 'cloudA-sm/good'])).toEqual({
      code: 0,
      out: '',
      err: 'nothing has failed\n',
    });
    const all = await run(['--output', 'json', 'status']);
    expect(all.code).toBe(1);
    const rows = all.out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { name: string });
    expect(rows.map(({ name }) => name).sort()).toEqual(['bad', 'good']);
    const waited = await run(['wait', '--mount', 'kv', 'c', '--timeout', '30s']);
    expect([waited.code, waited.out, waited.err]).toEqual([1, '', expect.stringContaining('cloudA-sm/bad')]);
  });

  test('shows what an import would do, and imports', async () => {
    expectStatus(await service.api('POST', 'kv/data/d', { data: { key: 'd' } }), 200);
    await run(['set', 'cloudA-sm/good', '--mount', 'kv', 'd']);
    await run(['remove', 'cloudA-sm/good', '--keep', '--mount', 'kv', 'd']);
    expectStatus(await service.api('POST', 'sys/mounts/imported', { type: 'kv' }), 204);
    const args = [
      'import',
      'cloudA-sm/good',
      '--mount',
      'imported',
      '--match',
      '*/d',
      '--path',
      '{{ .ExternalName | split "/" 2 }}',
    ];
    expect((await run(args)).out).toMatch(/\/d +d +new/);
    expectStatus(await service.api('GET', 'imported/data/d'), 404);
    const written = await run([...args, '--write']);
    expect([written.code, written.err]).toEqual([0, expect.stringMatching(/done: 1 /)]);
    expect((await service.api('GET', 'imported/data/d')).body.data).toMatchObject({ data: { key: 'd' } });
  });

  test('ends a wait that takes too long', async () => {
    expectStatus(await service.api('PATCH', 'sys/sync/config', { disabled: true }), 200);
    expectStatus(await service.api('POST', 'kv/data/a', { data: { key: 'later' } }), 200);
    const { code, out, err } = await run(['wait', '--mount', 'kv', 'a', '--timeout', '1s']);
    expect([code, out]).toEqual([1, 'version 2 of kv/a is missing in cloudA-sm/good after 1 s\n']);
    expect(err).toMatch(/disabled/);
    expectStatus(await service.api('PATCH', 'sys/sync/config', { disabled: false }), 200);
  });

  test('sends long lists in parts, and says how far it is', async () => {
    const names = Array.from({ length: 1_001 }, (_, at) => `nothing-${at}`);
    const { code, out, err } = await run(['set', 'cloudA-sm/good', '--mount', 'kv', '-'], {
      input: names.join('\n'),
    });
    expect([code, out.match(/refused/g)?.length]).toEqual([1, 1_001]);
    expect(err).toBe('1000 of 1001\n1001 of 1001\n1001 of 1001 have failed\n');
  });

  test('takes the token of ~/.vault-token, and namespaces', async () => {
    writeFileSync(join(home, '.vault-token'), `${service.rootToken}\n`);
    expect((await run(['failed', 'cloudA-sm/good'], { env: { VAULT_TOKEN: '' } })).code).toBe(0);
    rmSync(join(home, '.vault-token'));
    expect(await run(['status'], { env: { VAULT_TOKEN: '' } })).toEqual({
      code: 2,
      out: '',
      err: 'secrets-sync: there is no token: set VAULT_TOKEN, or log in with `bao login` or `vault login`\n',
    });
    expectStatus(await service.api('POST', 'sys/namespaces/team', {}), 200);
    expect((await run(['status'], { env: { BAO_NAMESPACE: 'team' } })).err).toBe(
      'there are no destinations\n',
    );
  });

  test.each([
    [['stauts'], 2, /Did you mean status/],
    [['status', '--nothing'], 2, /unknown option/],
    [['plan', 'cloudA-sm', '--mount', 'kv', 'a'], 2, /name a destination as <type>\/<name>/],
    [['set', 'cloudA-sm/good', 'a'], 2, /--mount/],
    [['import', 'cloudA-sm/good', '--mount', 'kv'], 2, /names or --match/],
    [['wait', 'a', '--mount', 'kv', '--timeout', 'soon'], 2, /must be a time/],
    [['inspect', 'cloudA-sm/none'], 3, /there is no sys\/sync\/destinations\/cloudA-sm\/none/],
    [['completion', 'tcsh'], 2, /is not bash, zsh or fish/],
  ])('%j exits with %i', async (args, code, reason) => {
    const ended = await run(args);
    expect([ended.code, ended.out, ended.err]).toEqual([code, '', expect.stringMatching(reason)]);
  });

  test('exits with 3 if the service refuses the token, or is not there', async () => {
    expect(await run(['status'], { env: { VAULT_TOKEN: 'wrong' } })).toEqual({
      code: 3,
      out: '',
      err: 'secrets-sync: permission denied\n',
    });
    const gone = await run(['status'], { env: { VAULT_ADDR: 'http://127.0.0.1:1' } });
    expect([gone.code, gone.err]).toEqual([3, expect.stringContaining('http://127.0.0.1:1')]);
  });

  test('completes commands and their options in bash', async () => {
    const { out } = await run(['completion', 'bash']);
    const script = `${out}\nCOMP_WORDS=(secrets-sync pl); COMP_CWORD=1; _secrets_sync; echo "\${COMPREPLY[*]}"
COMP_WORDS=(secrets-sync plan --lo); COMP_CWORD=2; _secrets_sync; echo "\${COMPREPLY[*]}"
COMP_WORDS=(secrets-sync rules de); COMP_CWORD=2; _secrets_sync; echo "\${COMPREPLY[*]}"
COMP_WORDS=(secrets-sync rules delete x y --k); COMP_CWORD=5; _secrets_sync; echo "\${COMPREPLY[*]}"`;
    const child = spawn('bash', ['-c', script]);
    expect((await child.stdout.toArray()).join('')).toBe('plan\n--look\ndelete\n--keep\n');
  });
});

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../../../tests/harness/eventually.ts';
import { expectStatus } from '../../../tests/harness/http.ts';
import { type Installation, startInstallation } from '../../../tests/harness/installation.ts';
import { SyncFixture } from '../../../tests/harness/sync-fixture.ts';
import { type Ended, runCli } from './cli-for-test.ts';

describe('secrets-sync rules', () => {
  let service: Installation;

  beforeAll(async () => {
    service = await startInstallation();
  });
  afterAll(() => service?.stop());

  const cli = (...args: string[]): Promise<Ended> =>
    runCli(args, { VAULT_ADDR: service.url, VAULT_TOKEN: service.rootToken });
  const run = (...args: string[]): Promise<Ended> => cli('rules', ...args);

  /** A destination as the program names it, and a mount with these secrets. */
  async function withSecrets(
    ...names: string[]
  ): Promise<{ fixture: SyncFixture; to: string; in: string[] }> {
    const fixture = await SyncFixture.create(service);
    for (const name of names) expectStatus(await fixture.write(name, { key: name }), 200);
    return { fixture, to: `cloudA-sm/${fixture.destination}`, in: ['--mount', fixture.mount] };
  }

  /** Repeats a command until its output has this. */
  const until = (pattern: RegExp, ...args: string[]): Promise<Ended> =>
    eventually(
      () => run(...args),
      ({ out }) => pattern.test(out),
    );

  test('writes a rule, and shows what it has associated', async () => {
    const { fixture, to, in: mount } = await withSecrets('shop/db', 'shop/mail', 'shop/old', 'bank/db');
    const written = await run('write', to, 'shop', ...mount, '--path', 'shop/*', '--exclude', 'shop/old');
    expect([written.code, written.out, written.err]).toEqual([
      0,
      expect.stringMatching(/^rule +shop$.*^path +shop\/\*$.*^exclude +shop\/old$.*^state /ms),
      expect.stringContaining('in the background'),
    ]);
    const shown = await until(/^state +up_to_date$/m, 'get', to, 'shop');
    expect([shown.code, shown.out]).toEqual([0, expect.stringMatching(/^associated +2$/m)]);
    await fixture.untilStatus('shop/mail', 'SYNCED');
    expect(await fixture.association('bank/db')).toBeUndefined();
    const removed = await cli('remove', to, ...mount, 'shop/db');
    expect([removed.code, removed.err]).toEqual([
      0,
      `${fixture.mount}/shop/db stays associated by the rule shop\n`,
    ]);
  });

  test('lists rules of more than one page, as a table and as JSON', async () => {
    const { to, fixture } = await withSecrets('a');
    const body = { mount: fixture.mount, path: 'nothing/*' };
    for (let at = 0; at < 101; at += 1)
      expectStatus(await service.api('POST', `${fixture.path}/rules/r-${1_000 + at}`, body), 200);
    const listed = await run('list', to);
    expect([listed.code, listed.err]).toEqual([0, '']);
    expect(listed.out).toMatch(/^RULE +STATE +MATCHED +ASSOCIATED +REFUSED +SECRETS +ERROR$/m);
    expect(listed.out.match(/^r-1\d{3} /gm)).toHaveLength(101);
    const json = await cli('--output', 'json', 'rules', 'list', to);
    expect(JSON.parse(json.out.split('\n')[100]!)).toMatchObject({ name: 'r-1100', path: 'nothing/*' });
  });

  test('takes metadata, and exits with 1 while a secret is refused, with the reason', async () => {
    const { fixture, to, in: mount } = await withSecrets('a', 'b', 'c');
    for (const [name, sync] of [
      ['a', 'prod'],
      ['b', 'test'],
    ] as const)
      expectStatus(
        await service.api('POST', `${fixture.mount}/metadata/${name}`, { custom_metadata: { sync } }),
        204,
      );
    expectStatus(await service.api('POST', `${fixture.mount}/data/old`, { data: { key: 'old' } }), 200);
    expectStatus(
      await service.api('POST', `${fixture.mount}/metadata/old`, { custom_metadata: { sync: 'prod' } }),
      204,
    );
    expectStatus(await service.api('DELETE', `${fixture.mount}/data/old`), 204);
    await run('write', to, 'prod', ...mount, '--path', '*', '--metadata', 'sync=prod');
    const shown = await until(/^state +up_to_date$/m, 'get', to, 'prod');
    expect([shown.code, shown.out]).toEqual([
      1,
      expect.stringMatching(/^metadata +sync=prod$.*^associated +1$.*^refused +1$.*^refused +\S+\/old: /ms),
    ]);
    expect((await run('list', to)).code).toBe(1);
    expect(await fixture.association('a')).toBeDefined();
  });

  test('plans a rule without writing it, and confirms what its write ends', async () => {
    const { fixture, to, in: mount } = await withSecrets('shop/db', 'bank/db');
    const planned = await run('plan', to, 'all', ...mount, '--path', '*');
    expect([planned.code, planned.out, planned.err]).toEqual([
      0,
      expect.stringMatching(
        new RegExp(`^${fixture.mount}/shop/db +associated +${fixture.externalName('shop/db')}$`, 'm'),
      ),
      '2 matched, 2 to associate, 0 to hold, 0 to release\n',
    ]);
    expectStatus(await service.api('GET', `${fixture.path}/rules/all`), 404);
    await run('write', to, 'all', ...mount, '--path', '*');
    await until(/^associated +2$/m, 'get', to, 'all');
    const narrower = [to, 'all', ...mount, '--path', 'shop/*'];
    const ending = await run('plan', ...narrower);
    expect([ending.code, ending.out]).toEqual([
      1,
      expect.stringMatching(new RegExp(`^${fixture.mount}/bank/db +released$`, 'm')),
    ]);
    const unconfirmed = await run('write', ...narrower);
    expect([unconfirmed.code, unconfirmed.err]).toEqual([
      3,
      expect.stringContaining('release 1 association'),
    ]);
    const fingerprint = /--confirm (\w+)/.exec(ending.err)![1]!;
    expect((await run('write', ...narrower, '--confirm', fingerprint)).code).toBe(0);
    await fixture.untilValue('bank/db', undefined);
  });

  test('deletes a rule, and keeps its associations on request', async () => {
    const { fixture, to, in: mount } = await withSecrets('a/x', 'b/x');
    for (const name of ['a', 'b']) {
      await run('write', to, name, ...mount, '--path', `${name}/*`);
      await fixture.untilStatus(`${name}/x`, 'SYNCED');
    }
    expect(await run('delete', to, 'a')).toMatchObject({
      code: 0,
      err: expect.stringContaining('nothing else holds'),
    });
    expect(await run('delete', to, 'b', '--keep')).toMatchObject({
      code: 0,
      err: expect.stringContaining('held by hand'),
    });
    await eventually(
      () => run('list', to),
      ({ err }) => err === 'there are no rules\n',
    );
    await fixture.untilValue('a/x', undefined);
    await fixture.untilStatus('b/x', 'SYNCED');
  });

  test.each([
    [['list', 'cloudA-sm/none'], 3, /there is no sys\/sync\/destinations\/cloudA-sm\/none/],
    [['list', 'cloudA-sm'], 2, /name a destination as/],
    [['get', 'cloudA-sm/none', 'x'], 3, /there is no /],
    [['write', 'cloudA-sm/none', 'x', '--mount', 'kv'], 2, /--path/],
    [
      ['write', 'cloudA-sm/none', 'x', '--mount', 'kv', '--path', '*', '--metadata', '=x'],
      2,
      /a key and a value/,
    ],
    [['drop'], 2, /unknown command/],
  ])('%j exits with %i', async (args, code, reason) => {
    expect(await run(...args)).toEqual({ code, out: '', err: expect.stringMatching(reason) });
  });
});

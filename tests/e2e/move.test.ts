import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { send } from '../harness/http.ts';
import { type Installation, startInstallation } from '../harness/installation.ts';

const program = fileURLToPath(new URL('../../docs/examples/move.mjs', import.meta.url));
let service: Installation;

beforeAll(async () => {
  service = await startInstallation();
});
afterAll(() => service?.stop());

const write = async (namespace: string, path: string, body: unknown) => {
  const headers = { 'x-vault-token': service.rootToken, 'x-vault-namespace': namespace };
  const { status } = await send(`${service.url}/v1/${path}`, 'POST', { headers, body });
  expect([path, status < 300]).toEqual([path, true]);
};

/** Without the programs of this repository. */
const ofMachine = (process.env.PATH ?? '')
  .split(':')
  .filter((folder) => !folder.includes('node_modules'))
  .join(':');

async function move(
  command: 'export' | 'import',
  namespace: string,
  { input = '', node = process.execPath } = {},
) {
  const env = {
    PATH: ofMachine,
    VAULT_ADDR: service.url,
    VAULT_TOKEN: service.rootToken,
    VAULT_NAMESPACE: namespace,
  };
  const child = spawn(node, [program, command], { env });
  child.stdin.end(input);
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { code: child.exitCode, out, err };
}

/** The Node on which the tests run, and the one of the machine, which may be older. */
test.each([process.execPath, 'node'])('moves everything, counted, on %s', async (node) => {
  const [from, to] = [`from-${node.length}`, `to-${node.length}`];
  for (const name of [from, to]) await write('', `sys/namespaces/${name}`, {});
  const policy = 'path "kv/data/a" { capabilities = ["read"] }';
  for (const name of ['plain', 'team%2Fread%20only', 'Gr%C3%B6%C3%9Fe', 'a%2Cb'])
    await write(from, `sys/policies/acl/${name}`, { policy });
  await write(from, 'sys/mounts/kv', { type: 'kv-v2', description: 'd' });
  await write(from, 'kv/config', { max_versions: 7, delete_version_after: '90m' });
  const exact = { data: { n: 1, list: [1.5, 'x'], text: '"1.0"' } };
  for (const n of [1, 2, 3]) await write(from, 'kv/data/shop/db', { data: { ...exact.data, n } });
  await write(from, 'kv/delete/shop/db', { versions: [2] });
  await write(from, 'kv/metadata/shop/db', { custom_metadata: { team: 'shop' } });
  await write(from, 'auth/token/roles/ci', { allowed_policies: 'plain', token_period: '1h' });

  const exported = await move('export', from, { node });
  expect(exported).toMatchObject({ code: 0, err: '' });
  const counts = { policy: 4, mount: 1, fields: 2, secret: 1, version: 2 };
  expect(JSON.parse(exported.out.trim().split('\n').at(-1)!)).toEqual({ kind: 'end', counts });
  for (const _time of ['first', 'again']) {
    const imported = await move('import', to, { input: exported.out, node });
    expect(imported).toMatchObject({ code: 0, err: expect.not.stringContaining('missing') });
    expect(imported.err).toMatch(/verified: .*"policy":4/);
  }
});

test('an import that is not complete fails, and lists what is missing', async () => {
  await write('', 'sys/namespaces/partial', {});
  const lines = [
    { kind: 'policy', namespace: '', name: 'good', policy: 'path "a" { capabilities = ["read"] }' },
    { kind: 'policy', namespace: '', name: 'bad', policy: 'pth "a" { capabilities = ["deny"] }' },
    { kind: 'policy', namespace: 'nowhere', name: 'lost', policy: 'path "a" { capabilities = ["deny"] }' },
    { kind: 'end', counts: { policy: 3 } },
  ].map((line) => `${JSON.stringify(line)}\n`);
  const refused = await move('import', 'partial', { input: lines.join('') });
  expect(refused).toMatchObject({
    code: 1,
    err: expect.stringMatching(/missing: policy bad: .*pth is unknown/),
  });
  expect(refused.err).toMatch(/missing: policy nowhere\/lost: .*404/);
  expect(refused.err).not.toMatch(/missing: policy good/);
  const unfinished = [
    ['', 'nothing'],
    [lines[0]!, 'a stream without its end'],
  ] as const;
  for (const [input] of unfinished)
    expect(await move('import', 'partial', { input })).toMatchObject({
      code: 1,
      err: expect.stringMatching(/has no end/),
    });
  const counted = `${lines[0]}${JSON.stringify({ kind: 'end', counts: { policy: 2 } })}\n`;
  expect((await move('import', 'partial', { input: counted })).code).toBe(1);
});

test('an export that fails has no end', async () => {
  const { code, out } = await move('export', 'missing-namespace');
  expect([code, out]).toEqual([1, '']);
});

import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Answer, expectStatus, send } from '../harness/http.ts';
import { type Installation, startInstallation } from '../harness/installation.ts';
import { describeClient } from './describe-client.ts';
import { type OpenBaoServer, startOpenBao } from './differential/openbao-server.ts';
import { mustRun } from './run.ts';

const program = fileURLToPath(new URL('../../docs/examples/move.mjs', import.meta.url));

interface Server {
  url: string;
  rootToken: string;
}

describeClient('openbao', 'docs/examples/move.mjs', () => {
  let source: OpenBaoServer;
  let service: Installation;

  beforeAll(async () => {
    [source, service] = await Promise.all([startOpenBao(), startInstallation()]);
  });
  afterAll(async () => {
    await Promise.all([source?.stop(), service?.stop()]);
  });

  const move = (command: 'export' | 'import', server: Server, namespace: string, input = '') => {
    const env = { VAULT_ADDR: server.url, VAULT_TOKEN: server.rootToken, VAULT_NAMESPACE: namespace };
    return mustRun(process.execPath, [program, command], { env, input });
  };
  const call = (
    { url, rootToken }: Server,
    namespace: string,
    method: string,
    path: string,
    body?: unknown,
  ) =>
    send(`${url}/v1/${path}`, method, {
      headers: { 'x-vault-token': rootToken, 'x-vault-namespace': namespace },
      ...(body === undefined ? {} : { body }),
    });
  const write = async (server: Server, namespace: string, path: string, body: unknown): Promise<Answer> => {
    const answer = await call(server, namespace, 'POST', path, body);
    if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer;
  };
  const read = async (server: Server, namespace: string, path: string) =>
    expectStatus(await call(server, namespace, 'GET', path), 200).body.data;

  test('copies namespaces, policies, mounts, token roles and every readable version from OpenBao', async () => {
    const policy = 'path "kv/data/shop/*" { capabilities = ["read"] }';
    await write(source, '', 'sys/namespaces/old', { custom_metadata: { owner: 'shop' } });
    await write(source, 'old', 'sys/namespaces/inner', {});
    await write(source, 'old', 'sys/policies/acl/shop', { policy });
    await write(source, 'old', 'sys/mounts/kv', { type: 'kv-v2', description: 'secrets of the shop' });
    await write(source, 'old', 'kv/config', { max_versions: 7 });
    for (const n of [1, 2, 3]) await write(source, 'old', 'kv/data/shop/db', { data: { n } });
    await write(source, 'old', 'kv/delete/shop/db', { versions: [2] });
    await write(source, 'old', 'kv/metadata/shop/db', { custom_metadata: { team: 'shop' }, max_versions: 5 });
    await write(source, 'old', `kv/data/${encodeURIComponent('Größe %')}`, { data: { a: 'b' } });
    await write(source, 'old/inner', 'sys/mounts/team/kv', { type: 'kv', options: { version: '2' } });
    await write(source, 'old/inner', 'team/kv/data/a', { data: { deep: { list: [1, null] } } });
    await write(source, 'old', 'auth/token/roles/ci', { allowed_policies: 'shop', token_period: '1h' });

    const stream = await move('export', source, 'old');
    await write(service, '', 'sys/namespaces/new', {});
    await move('import', service, 'new', stream);
    await move('import', service, 'new', stream); // again: changes nothing

    expect((await read(service, 'new', 'sys/policies/acl/shop')).policy).toBe(policy);
    expect(await read(service, 'new', 'sys/mounts/kv')).toMatchObject({ description: 'secrets of the shop' });
    expect(await read(service, 'new', 'kv/config')).toMatchObject({ max_versions: 7 });
    expect(await read(service, 'new', 'kv/metadata/shop/db')).toMatchObject({
      current_version: 2,
      max_versions: 5,
      custom_metadata: { team: 'shop' },
    });
    expect((await read(service, 'new', 'kv/data/shop/db?version=1')).data).toEqual({ n: 1 });
    expect((await read(service, 'new', 'kv/data/shop/db')).data).toEqual({ n: 3 });
    expect((await read(service, 'new', 'kv/metadata?list=true')).keys).toEqual(
      (await read(source, 'old', 'kv/metadata?list=true')).keys,
    );
    expect((await read(service, 'new/inner', 'team/kv/data/a')).data).toEqual({ deep: { list: [1, null] } });
    expect(await read(service, 'new', 'auth/token/roles/ci')).toMatchObject({
      allowed_policies: ['shop'],
      token_period: 3600,
    });
  });

  test('copies auth mounts of the type azure with their roles', async () => {
    const [tenant_id, oid] = [crypto.randomUUID(), crypto.randomUUID()];
    await write(service, '', 'sys/namespaces/from', {});
    await write(service, '', 'sys/namespaces/to', {});
    await write(service, 'from', 'sys/auth/logins', { type: 'azure', config: { default_lease_ttl: '1h' } });
    const config = { tenant_id, resource: 'https://shop.example', environment: 'china' };
    await write(service, 'from', 'auth/logins/config', config);
    const role = { token_policies: ['shop'], token_ttl: 600, bound_service_principal_ids: [oid] };
    await write(service, 'from', 'auth/logins/role/ci', role);

    await move('import', service, 'to', await move('export', service, 'from'));

    expect(await read(service, 'to', 'auth/logins/config')).toMatchObject(config);
    expect(await read(service, 'to', 'auth/logins/role/ci')).toMatchObject(role);
    expect((await read(service, 'to', 'sys/auth/logins/tune')).default_lease_ttl).toBe(3600);
  });

  test('keeps numbers digit for digit', async () => {
    const headers = (namespace: string) => ({
      'x-vault-token': service.rootToken,
      'x-vault-namespace': namespace,
      'content-type': 'application/json',
    });
    for (const name of ['exact', 'copy']) await write(service, '', `sys/namespaces/${name}`, {});
    await write(service, 'exact', 'sys/mounts/kv', { type: 'kv-v2' });
    const body = '{"data": {"n": 12345678901234567890.5}}';
    await fetch(`${service.url}/v1/kv/data/a`, { method: 'POST', headers: headers('exact'), body });
    await move('import', service, 'copy', await move('export', service, 'exact'));
    const copied = await fetch(`${service.url}/v1/kv/data/a`, { headers: headers('copy') });
    expect(await copied.text()).toContain('12345678901234567890.5');
  });
});

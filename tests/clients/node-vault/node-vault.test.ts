import { createRequire } from 'node:module';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { type Installation, startInstallation } from '../../harness/installation.ts';
import { describeClient } from '../describe-client.ts';

/** Every call of node-vault returns the parsed body of the response. */
// biome-ignore lint/suspicious/noExplicitAny: tests assert on whatever is returned
type Call = (...args: any[]) => Promise<any>;
type NodeVault = (options: { endpoint: string; token?: string; namespace?: string }) => Record<string, Call>;

describeClient('node-vault', 'the JavaScript client node-vault, unmodified:', (folder) => {
  const open: NodeVault = createRequire(join(folder, 'package.json'))('node-vault');
  let service: Installation;
  let vault: Record<string, Call>;
  let name: string;
  let count = 0;

  beforeAll(async () => {
    service = await startInstallation();
  });
  afterAll(() => service?.stop());
  beforeEach(async () => {
    vault = as(service.rootToken); // calls that return a token replace that of their client
    count += 1;
    name = `v${count}`;
    await vault.mount!({ mount_point: name, type: 'kv', options: { version: '2' } });
  });

  const as = (token: string) => open({ endpoint: service.url, token });
  const tokenFor = async (rules: string): Promise<string> => {
    await vault.addPolicy!({ name, rules });
    return (await as(service.rootToken).tokenCreate!({ policies: [name], ttl: '1h' })).auth.client_token;
  };
  const refusal = (status: number) =>
    expect.objectContaining({ response: expect.objectContaining({ statusCode: status }) });

  test('writes, reads, patches, lists and deletes secrets', async () => {
    const written = await vault.write!(`${name}/data/shop/db`, { data: { user: 'a' } });
    expect(written.data.version).toBe(1);
    expect((await vault.read!(`${name}/data/shop/db`)).data.data).toEqual({ user: 'a' });
    await vault.update!(`${name}/data/shop/db`, { data: { port: 1 } });
    expect((await vault.read!(`${name}/data/shop/db?version=1`)).data.data).toEqual({ user: 'a' });
    expect((await vault.read!(`${name}/data/shop/db`)).data.data).toEqual({ user: 'a', port: 1 });
    expect((await vault.list!(`${name}/metadata`)).data.keys).toEqual(['shop/']);
    await vault.delete!(`${name}/metadata/shop/db`);
    await expect(vault.read!(`${name}/data/shop/db`)).rejects.toEqual(refusal(404));
  });

  test('reports a refused check-and-set', async () => {
    const write = () => vault.write!(`${name}/data/a`, { data: { n: 1 }, options: { cas: 0 } });
    await write();
    await expect(write()).rejects.toEqual(refusal(400));
  });

  test('a limited token may do what its policy allows', async () => {
    await vault.write!(`${name}/data/a`, { data: { n: 1 } });
    const limited = as(await tokenFor(`path "${name}/data/*" { capabilities = ["read"] }`));
    expect((await limited.read!(`${name}/data/a`)).data.data).toEqual({ n: 1 });
    await expect(limited.write!(`${name}/data/a`, { data: { n: 2 } })).rejects.toEqual(refusal(403));
    await expect(limited.policies!()).rejects.toEqual(refusal(403));
  });

  test('manages mounts', async () => {
    expect((await vault.mounts!()).data).toHaveProperty([`${name}/`]);
    await vault.write!(`${name}/data/a`, { data: { n: 1 } });
    await vault.remount!({ from: name, to: `${name}b` });
    expect((await vault.read!(`${name}b/data/a`)).data.data).toEqual({ n: 1 });
    await vault.unmount!({ mount_point: `${name}b` });
    expect((await vault.mounts!()).data).not.toHaveProperty([`${name}b/`]);
  });

  test('manages auth mounts', async () => {
    await vault.enableAuth!({ mount_point: name, type: 'azure', description: 'logins' });
    expect((await vault.auths!()).data[`${name}/`].description).toBe('logins');
    await vault.disableAuth!({ mount_point: name });
    expect((await vault.auths!()).data).not.toHaveProperty([`${name}/`]);
  });

  test('manages policies', async () => {
    const rules = `path "${name}/data/*" { capabilities = ["read"] }`;
    await vault.addPolicy!({ name, rules });
    expect((await vault.getPolicy!({ name })).data.rules).toBe(rules);
    expect((await vault.policies!()).data.keys).toContain(name);
    await vault.removePolicy!({ name });
    await expect(vault.getPolicy!({ name })).rejects.toEqual(refusal(404));
  });

  test('manages tokens', async () => {
    const token = await tokenFor(`path "${name}/data/*" { capabilities = ["read"] }`);
    const own = (await as(token).tokenLookupSelf!()).data;
    expect(own).toMatchObject({ id: token, policies: ['default', name] });
    expect((await vault.tokenLookup!({ token })).data.accessor).toBe(own.accessor);
    expect((await vault.tokenLookupAccessor!({ accessor: own.accessor })).data.policies).toEqual(
      own.policies,
    );
    expect((await vault.tokenAccessors!()).data.keys).toContain(own.accessor);
    expect((await as(token).tokenRenewSelf!({ increment: '2h' })).auth.client_token).toBe(token);
    expect(
      (await as(service.rootToken).tokenRenew!({ token, increment: '1h' })).auth.lease_duration,
    ).toBeLessThanOrEqual(3600);
    await vault.tokenRevokeAccessor!({ accessor: own.accessor });
    await expect(as(token).tokenLookupSelf!()).rejects.toEqual(refusal(403));
    const orphan = (await as(service.rootToken).tokenCreateOrphan!({ policies: ['default'] })).auth;
    expect(orphan.orphan).toBe(true);
    await vault.tokenRevokeOrphan!({ token: orphan.client_token });
    await as(await tokenFor(`path "${name}/*" { capabilities = ["read"] }`)).tokenRevokeSelf!();
    await vault.tokenRevoke!({ token: await tokenFor(`path "${name}/*" { capabilities = ["read"] }`) });
  });

  test('manages token roles', async () => {
    await vault.addTokenRole!({ role_name: name, allowed_policies: 'default', period: 3600 });
    expect((await vault.getTokenRole!({ role_name: name })).data.allowed_policies).toEqual(['default']);
    expect((await vault.tokenRoles!()).data.keys).toContain(name);
    expect(
      (await as(service.rootToken).tokenCreateRole!({ role_name: name, policies: ['default'] })).auth
        .lease_duration,
    ).toBe(3600);
    await vault.removeTokenRole!({ role_name: name });
  });

  test('unwraps wrapped responses', async () => {
    const { wrap_info } = await vault.write!(
      'sys/wrapping/wrap',
      { password: 'x' },
      { headers: { 'X-Vault-Wrap-TTL': 60 } },
    );
    expect((await vault.unwrap!({ token: wrap_info.token })).data).toEqual({ password: 'x' });
    await expect(vault.unwrap!({ token: wrap_info.token })).rejects.toEqual(refusal(400));
  });

  test('works in a namespace', async () => {
    await vault.write!(`sys/namespaces/${name}ns`, {});
    const inside = open({ endpoint: service.url, token: service.rootToken, namespace: `${name}ns` });
    await inside.mount!({ mount_point: 'kv', type: 'kv-v2' });
    await inside.write!('kv/data/a', { data: { n: 1 } });
    expect((await vault.read!(`${name}ns/kv/data/a`)).data.data).toEqual({ n: 1 });
  });

  test('reads the state of the server without a token', async () => {
    const anonymous = open({ endpoint: service.url });
    expect(await anonymous.health!()).toMatchObject({ initialized: true, sealed: false, standby: false });
    expect(await anonymous.status!()).toMatchObject({ initialized: true, sealed: false });
    expect(await anonymous.initialized!()).toEqual({ initialized: true });
    expect(await anonymous.leader!()).toHaveProperty('ha_enabled');
  });
});

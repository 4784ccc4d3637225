import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { eventuallyEqual } from '../../harness/eventually.ts';
import { type Installation, startInstallation } from '../../harness/installation.ts';
import { describeClient } from '../describe-client.ts';
import { Bao } from './bao.ts';

describeClient('openbao', 'the OpenBao command line, unmodified:', (folder) => {
  let service: Installation;
  /** The command line of an administrator, who has logged in. */
  let admin: Bao;
  const users: Bao[] = [];
  let count = 0;
  /** A name that no other test uses, and a mount of that name. */
  let name: string;

  const user = (): Bao => {
    const bao = new Bao(join(folder, 'bin', 'bao'), service.url);
    users.push(bao);
    return bao;
  };

  beforeAll(async () => {
    service = await startInstallation();
    admin = user();
    await admin.print('login -', { input: service.rootToken });
  });
  afterAll(async () => {
    for (const bao of users) bao.discard();
    await service?.stop();
  });
  beforeEach(async () => {
    count += 1;
    name = `m${count}`;
    await admin.print(`secrets enable -path=${name} kv-v2`);
  });

  /** Writes a policy and returns a token that has only this one. */
  async function tokenFor(rules: string, options = ''): Promise<string> {
    await admin.print(`policy write ${name} -`, { input: rules });
    const { auth } = await admin.json(`token create -policy=${name} -ttl=1h${options}`);
    return auth.client_token;
  }

  /** A user who has logged in with a token for the mount of the test. */
  async function limitedUser(capabilities = '["read", "list"]'): Promise<Bao> {
    const rules = ['data', 'metadata', 'delete', 'undelete', 'destroy', 'subkeys']
      .map((part) => `path "${name}/${part}/*" { capabilities = ${capabilities} }`)
      .join('\n');
    const bao = user();
    await bao.print('login -', { input: await tokenFor(rules) });
    return bao;
  }
  const everything = '["create", "read", "update", "patch", "delete", "list"]';

  describe('bao status and bao login', () => {
    test('status needs no token, and exits with 0', async () => {
      const status = await user().json('status');
      expect(status).toMatchObject({ initialized: true, sealed: false });
    });

    test('login stores the token, and later commands use it', async () => {
      const bao = await limitedUser();
      expect((await bao.json('token lookup')).data.policies).toEqual(['default', name]);
      expect((await bao.print('print token')).trim()).toBe((await bao.json('token lookup')).data.id);
    });

    test('login with a wrong token fails', async () => {
      const { code, stderr } = await user().run('login -', { input: 'wrong' });
      expect([code, stderr]).toEqual([2, expect.stringContaining('permission denied')]);
    });
  });

  describe('bao kv', () => {
    test.each([
      ['the root token', async () => admin],
      ['a token with a policy for the mount', () => limitedUser(everything)],
    ])(
      'put, get, patch, list, delete, undelete, destroy, rollback and metadata work with %s',
      async (_, who) => {
        const bao = await who();
        expect((await bao.json(`kv put -mount=${name} shop/db user=a`)).data.version).toBe(1);
        expect((await bao.json(`kv put -mount=${name} -cas=1 shop/db user=b`)).data.version).toBe(2);
        expect((await bao.json(`kv get -mount=${name} shop/db`)).data.data).toEqual({ user: 'b' });
        expect((await bao.json(`kv get ${name}/shop/db`)).data.data).toEqual({ user: 'b' });
        expect((await bao.json(`kv get -mount=${name} -version=1 shop/db`)).data.data).toEqual({ user: 'a' });
        expect(await bao.print(`kv get -mount=${name} -field=user shop/db`)).toMatch(/^b\n?$/);
        await bao.print(`kv patch -mount=${name} shop/db port=1`);
        await bao.print(`kv patch -mount=${name} -method=rw shop/db port=2`);
        expect((await bao.json(`kv get -mount=${name} shop/db`)).data.data).toEqual({ user: 'b', port: '2' });
        expect(await bao.json(`kv list -mount=${name}`)).toEqual(['shop/']);
        expect(await bao.json(`kv list ${name}/shop`)).toEqual(['db']);
        await bao.print(`kv delete -mount=${name} shop/db`);
        expect((await bao.json(`kv get -mount=${name} shop/db`)).data.data).toBeNull();
        await bao.print(`kv undelete -mount=${name} -versions=4 shop/db`);
        await bao.print(`kv rollback -mount=${name} -version=1 shop/db`);
        expect((await bao.json(`kv get -mount=${name} shop/db`)).data.data).toEqual({ user: 'a' });
        await bao.print(`kv destroy -mount=${name} -versions=1,2 shop/db`);
        await bao.print(`kv metadata put -mount=${name} -max-versions=5 -custom-metadata=team=shop shop/db`);
        await bao.print(`kv metadata patch -mount=${name} -custom-metadata=tier=1 shop/db`);
        expect((await bao.json(`kv metadata get -mount=${name} shop/db`)).data).toMatchObject({
          max_versions: 5,
          custom_metadata: { team: 'shop', tier: '1' },
          versions: { 1: { destroyed: true }, 5: { destroyed: false } },
        });
        await bao.print(`kv metadata delete -mount=${name} shop/db`);
        expect((await bao.run(`kv get -mount=${name} shop/db`)).code).toBe(2);
      },
    );

    test('a token that may only read is refused a write', async () => {
      await admin.print(`kv put -mount=${name} a n=1`);
      const bao = await limitedUser();
      expect((await bao.json(`kv get -mount=${name} a`)).data.data).toEqual({ n: '1' });
      const { code, stderr } = await bao.run(`kv put -mount=${name} a n=2`);
      expect([code, stderr]).toEqual([2, expect.stringContaining('permission denied')]);
    });

    test('check-and-set refuses another version', async () => {
      await admin.print(`kv put -mount=${name} -cas=0 a n=1`);
      const { code, stderr } = await admin.run(`kv put -mount=${name} -cas=0 a n=2`);
      expect([code, stderr]).toEqual([2, expect.stringContaining('check-and-set')]);
    });

    test('values come from files, standard input and JSON', async () => {
      writeFileSync(join(admin.home, 'value.txt'), 'from a file');
      await admin.print(`kv put -mount=${name} a text=@value.txt more=-`, { input: 'typed' });
      expect((await admin.json(`kv get -mount=${name} a`)).data.data).toEqual({
        text: 'from a file',
        more: 'typed',
      });
      await admin.print(`kv put -mount=${name} b -`, {
        input: '{"n": 1, "deep": {"a": [1]}}',
      });
      expect((await admin.json(`kv get -mount=${name} b`)).data.data).toEqual({ n: 1, deep: { a: [1] } });
    });

    test('writes to a mount that requires check-and-set fail without it', async () => {
      await admin.print(`write ${name}/config cas_required=true`);
      expect((await admin.run(`kv put -mount=${name} a n=1`)).code).toBe(2);
      await admin.print(`kv put -mount=${name} -cas=0 a n=1`);
    });
  });

  describe('bao read, write, list, delete and patch', () => {
    test('address any path of the API', async () => {
      await admin.print(`write ${name}/data/a -`, { input: '{"data": {"n": 1}}' });
      expect((await admin.json(`read ${name}/data/a`)).data.data).toEqual({ n: 1 });
      await admin.print(`patch ${name}/data/a -`, { input: '{"data": {"m": 2}}' });
      expect((await admin.json(`read ${name}/data/a`)).data.data).toEqual({ n: 1, m: 2 });
      expect(await admin.json(`list ${name}/metadata`)).toEqual(['a']);
      await admin.print(`delete ${name}/metadata/a`);
      expect((await admin.run(`read ${name}/data/a`)).code).toBe(2);
    });

    test('manage syncing, under the names of this service and of the industry', async () => {
      const { access_key_id, secret_access_key } = await service.sandbox.credentials();
      const credentials = `region=eu-west-1 access_key_id=${access_key_id} secret_access_key=${secret_access_key}`;
      await admin.print(`write sys/sync/destinations/aws-sm/${name} ${credentials}`);
      expect((await admin.json(`read sys/sync/destinations/aws-sm/${name}`)).data.type).toBe('aws-sm');
      await admin.print(`kv put -mount=${name} a n=1`);
      await admin.print(
        `write sys/sync/destinations/cloudA-sm/${name}/associations/set mount=${name} secret_name=a`,
      );
      const status = async () => {
        const { data } = await admin.json(`read sys/sync/associations/${name}/a`);
        return data.associated_destinations[`cloudA-sm/${name}`].sync_status;
      };
      await eventuallyEqual(status, 'SYNCED');
      expect(await admin.json('list sys/sync/destinations/aws-sm')).toContain(name);
      await admin.print(
        `write sys/sync/destinations/aws-sm/${name}/associations/remove mount=${name} secret_name=a`,
      );
      await admin.print(`delete sys/sync/destinations/aws-sm/${name}`);
    });
  });

  describe('bao token', () => {
    test('create, lookup, renew and revoke', async () => {
      const token = await tokenFor(`path "${name}/data/*" { capabilities = ["read"] }`);
      const { data } = await admin.json(`token lookup ${token}`);
      expect(data).toMatchObject({ id: token, policies: ['default', name], orphan: false, renewable: true });
      expect((await admin.json(`token lookup -accessor ${data.accessor}`)).data.id).toBe('');
      expect((await admin.json(`token renew -increment=2h ${token}`)).auth.lease_duration).toBeGreaterThan(
        7000,
      );
      await admin.print(`token renew -accessor ${data.accessor}`);
      expect((await admin.json('token renew', { token })).auth.client_token).toBe(token);
      expect(await admin.print(`token capabilities ${token} ${name}/data/a`)).toBe('read\n');
      expect(await admin.print(`token capabilities ${name}/data/a`, { token })).toBe('read\n');
      expect(await admin.json('list auth/token/accessors')).toContain(data.accessor);
      await admin.print(`token revoke ${token}`);
      expect((await admin.run('token lookup', { token })).code).toBe(2);
    });

    test('revoke by accessor, of the token itself, and without its children', async () => {
      const rules = 'path "auth/token/create" { capabilities = ["update"] }';
      const [first, second, third] = [await tokenFor(rules), await tokenFor(rules), await tokenFor(rules)];
      const { data } = await admin.json(`token lookup ${first}`);
      await admin.print(`token revoke -accessor ${data.accessor}`);
      await admin.print('token revoke -self', { token: second });
      const { auth } = await admin.json(`token create -policy=${name}`, { token: third });
      await admin.print(`token revoke -mode=orphan ${third}`);
      for (const token of [first, second, third])
        expect((await admin.run('token lookup', { token })).code).toBe(2);
      expect((await admin.json('token lookup', { token: auth.client_token })).data.orphan).toBe(true);
    });

    test('create with every option', async () => {
      const create = async (options: string) => {
        const { auth } = await admin.json(`token create -policy=default ${options}`);
        return { ...auth, ...(await admin.json(`token lookup ${auth.client_token}`)).data };
      };
      expect(await create('-orphan')).toMatchObject({ orphan: true });
      expect(await create('-period=30m')).toMatchObject({ lease_duration: 1800, period: 1800 });
      expect(await create('-use-limit=2')).toMatchObject({ num_uses: 2 });
      expect(await create('-type=batch -ttl=1h')).toMatchObject({ type: 'batch', accessor: '' });
      expect(await create('-metadata=team=shop -display-name=ci -renewable=false')).toMatchObject({
        meta: { team: 'shop' },
        display_name: 'token-ci',
        renewable: false,
      });
      expect(await create('-explicit-max-ttl=2h -no-default-policy -ttl=4h')).toMatchObject({
        lease_duration: 7200,
        explicit_max_ttl: 7200,
      });
      const id = `${name}-01234567890123456789`;
      expect(await create(`-id=${id}`)).toMatchObject({ client_token: id, id });
    });

    test('create through a role', async () => {
      await admin.print(
        `write auth/token/roles/${name} allowed_policies=default,${name} orphan=true token_period=1h`,
      );
      expect(await admin.json('list auth/token/roles')).toContain(name);
      expect((await admin.json(`read auth/token/roles/${name}`)).data).toMatchObject({
        allowed_policies: ['default', name],
        orphan: true,
        token_period: 3600,
      });
      const { auth } = await admin.json(`token create -role=${name} -policy=${name}`);
      expect(auth).toMatchObject({ orphan: true, lease_duration: 3600 });
      expect((await admin.run(`token create -role=${name} -policy=other`)).code).toBe(2);
      await admin.print(`delete auth/token/roles/${name}`);
    });
  });

  describe('bao policy', () => {
    test('write, read, list, fmt and delete', async () => {
      const rules = `path "${name}/data/*" {\n  capabilities = ["read"]\n}\n`;
      await admin.print(`policy write ${name} -`, { input: rules });
      expect(await admin.print(`policy read ${name}`)).toContain(rules.trim());
      expect(await admin.json('policy list')).toEqual(expect.arrayContaining(['default', 'root', name]));
      await admin.print(`policy delete ${name}`);
      expect((await admin.run(`policy read ${name}`)).code).toBe(2);
    });

    test('a policy that cannot be parsed is refused', async () => {
      const { code, stderr } = await admin.run(`policy write ${name} -`, { input: 'path {' });
      expect([code, stderr]).toEqual([2, expect.stringContaining('400')]);
    });

    test('accepts what administrators write: comments, templates, parameters', async () => {
      const token = await tokenFor(`# shop
path "${name}/data/{{identity.entity.name}}/*" { capabilities = ["read"] }
path "${name}/data/*" {
  capabilities = ["create", "update"]
  allowed_parameters = { "data" = [], "options" = [] }
}
path "${name}/metadata/none" {}
`);
      await user().print(`write ${name}/data/a -`, { token, input: '{"data": {"n": 1}}' });
      expect((await user().run(`read ${name}/data/a`, { token })).code).toBe(2);
    });
  });

  describe('bao secrets and bao auth', () => {
    test('secrets enable, list, tune, move and disable', async () => {
      await admin.print(`secrets enable -path=${name}b -description=b -version=2 kv`);
      await admin.print(`kv put -mount=${name}b a n=1`);
      expect((await admin.json('secrets list'))[`${name}b/`]).toMatchObject({ type: 'kv', description: 'b' });
      expect(await admin.print('secrets list -detailed')).toContain(`${name}b/`);
      await admin.print(`secrets tune -description=changed -default-lease-ttl=1h ${name}b`);
      expect((await admin.json('secrets list'))[`${name}b/`].description).toBe('changed');
      await admin.print(`secrets move ${name}b/ ${name}c/`);
      expect((await admin.json(`kv get -mount=${name}c a`)).data.data).toEqual({ n: '1' });
      expect((await admin.run(`kv get -mount=${name}b a`)).code).toBe(2);
      await admin.print(`secrets disable ${name}c`);
      expect(await admin.json('secrets list')).not.toHaveProperty(`${name}c/`);
    });

    test('auth enable, list, tune and disable', async () => {
      await admin.print(`auth enable -path=${name} -description=logins azure`);
      expect((await admin.json('auth list'))[`${name}/`]).toMatchObject({ description: 'logins' });
      await admin.print(`auth tune -default-lease-ttl=2h ${name}`);
      expect((await admin.json(`read sys/auth/${name}/tune`)).data.default_lease_ttl).toBe(7200);
      await admin.print(
        `write auth/${name}/config tenant_id=${crypto.randomUUID()} resource=https://shop.example`,
      );
      await admin.print(
        `write auth/${name}/role/ci policies=default bound_service_principal_ids=${crypto.randomUUID()}`,
      );
      expect(await admin.json(`list auth/${name}/role`)).toEqual(['ci']);
      await admin.print(`auth disable ${name}`);
      expect(await admin.json('auth list')).not.toHaveProperty(`${name}/`);
    });

    test('a login writes the token that it received', async () => {
      const { tenant_id, identities } = await service.sandbox.directory();
      const { oid } = identities[0]!;
      const audience = 'https://shop.example';
      await admin.print(`auth enable -path=${name} azure`);
      await admin.print(`write auth/${name}/config tenant_id=${tenant_id} resource=${audience}`);
      await admin.print(`write auth/${name}/role/ci policies=default bound_service_principal_ids=${oid}`);
      const jwt = await service.sandbox.issueToken({ audience, oid });
      const { auth } = await user().json(`write auth/${name}/login role=ci jwt=${jwt}`);
      expect((await user().json('token lookup', { token: auth.client_token })).data.id).toBe(
        auth.client_token,
      );
    });
  });

  describe('bao namespace', () => {
    /** A mount has the name already. */
    const path = () => `${name}-ns`;

    test('create, list, lookup, patch and delete; commands run in a namespace', async () => {
      await admin.print(`namespace create -custom-metadata=team=shop ${path()}`);
      expect(await admin.json('namespace list')).toContain(`${path()}/`);
      expect((await admin.json(`namespace lookup ${path()}`)).path).toBe(`${path()}/`);
      await admin.print(`namespace patch -custom-metadata=tier=1 ${path()}`);
      await admin.print(`namespace create inner`, { namespace: path() });
      expect(await admin.json('namespace list', { namespace: path() })).toEqual(['inner/']);
      const namespace = `${path()}/inner`;
      await admin.print('secrets enable -path=kv kv-v2', { namespace });
      await admin.print('kv put -mount=kv a n=1', { namespace });
      expect((await admin.json(`read ${namespace}/kv/data/a`)).data.data).toEqual({ n: '1' });
      await admin.print('secrets disable kv', { namespace });
      await admin.print('namespace delete inner', { namespace: path() });
      await admin.print(`namespace delete ${path()}`);
      expect((await admin.run(`namespace lookup ${path()}`)).code).toBe(2);
    });

    test('a token of a namespace works there, and nowhere above', async () => {
      await admin.print(`namespace create ${path()}`);
      const namespace = path();
      await admin.print('secrets enable -path=kv kv-v2', { namespace });
      const input = 'path "kv/*" { capabilities = ["create", "read", "update", "list"] }';
      await admin.print('policy write shop -', { namespace, input });
      const token = (await admin.json('token create -policy=shop -orphan', { namespace })).auth.client_token;
      const bao = user();
      await bao.print('login -', { namespace, input: token });
      await bao.print('kv put -mount=kv a n=1', { namespace });
      expect((await bao.json('kv get -mount=kv a', { namespace })).data.data).toEqual({ n: '1' });
      expect((await bao.run(`kv get -mount=${name} a`)).code).toBe(2);
    });
  });

  describe('response wrapping', () => {
    test('-wrap-ttl and bao unwrap', async () => {
      await admin.print(`kv put -mount=${name} a n=1`);
      const { wrap_info } = await admin.json(`kv get -wrap-ttl=5m -mount=${name} a`);
      expect(wrap_info).toMatchObject({ ttl: 300, creation_path: `${name}/data/a` });
      expect((await admin.json(`write sys/wrapping/lookup token=${wrap_info.token}`)).data).toMatchObject({
        creation_ttl: 300,
        creation_path: `${name}/data/a`,
      });
      const rewrapped = (await admin.json(`write sys/wrapping/rewrap token=${wrap_info.token}`)).wrap_info;
      expect((await admin.run(`unwrap ${wrap_info.token}`)).code).toBe(2);
      expect((await user().json('unwrap', { token: rewrapped.token })).data.data).toEqual({ n: '1' });
      expect((await user().run('unwrap', { token: rewrapped.token })).code).toBe(2);
    });

    test('bao token create -wrap-ttl, bao login with the unwrapped token', async () => {
      const { wrap_info } = await admin.json('token create -policy=default -wrap-ttl=1m');
      const { auth } = await user().json(`unwrap`, { token: wrap_info.token });
      await user().print('login -', { input: auth.client_token });
    });
  });
});

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { rowGuard } from '@secrets/access';
import { loginTargets } from '../../src/auth-methods/cloudb/login/login-targets.ts';
import { renewLease, takeLease } from '../../src/auth-methods/cloudb/queries/rotations.ts';
import {
  type CloudBForTest,
  createIn,
  group,
  type LoginForTest,
  startCloudBForTest,
} from '../login-for-test.ts';
import { loseCommits } from './lose-commits.ts';

// The number of a change that was lost is used again by the next one. A gateway that has seen the first one must not
// take the second one for it.

let cloudB: CloudBForTest;
let login: LoginForTest;
let unrelated = 0;

beforeAll(async () => {
  cloudB = await startCloudBForTest();
  login = cloudB.service;
});
afterAll(() => cloudB.stop());

const reading = (path: string) => ({
  policy: JSON.stringify({ path: { [path]: { capabilities: ['read'] } } }),
});
const writePolicy = (name: string, path: string) =>
  login.call('POST', `/sys/policies/acl/${name}`, reading(path));
const change = () => writePolicy(`unrelated-${unrelated++}`, 'kv/data/unrelated');

describe('a gateway that has seen a change which was lost notices the next one', () => {
  let token: string;
  let accessor: string;
  let entityId: string;
  let principal: string;

  beforeEach(async () => {
    await writePolicy('reading', 'kv/data/a');
    principal = randomUUID();
    await cloudB.writeRole('web', {
      bound_service_principal_ids: [principal],
      token_policies: ['reading'],
      token_ttl: '1h',
    });
    const { auth } = (await cloudB.logInWith({ oid: principal, groups: [group] })).body;
    ({ client_token: token, accessor, entity_id: entityId } = auth);
  });

  const isAllowed = () => login.isAllowed(token, 'kv/data/a');
  const withdrawals: Record<string, () => Promise<unknown>> = {
    'revocation of a token': () => login.call('POST', '/auth/token/revoke-accessor', { accessor }),
    policy: () => writePolicy('reading', 'kv/data/b'),
    entity: () => login.call('POST', `/identity/entity/id/${entityId}`, { disabled: true }),
    'auth mount': async () => {
      await login.call('DELETE', '/sys/auth/cloudB');
    },
  };

  test.each(Object.entries(withdrawals))('%s', async (_name, withdraw) => {
    expect(await isAllowed()).toBe(true);
    const before = await login.epoch();
    await loseCommits(login.db, async () => {
      await change();
      expect(await isAllowed()).toBe(true);
    });
    await withdraw();
    expect([await login.epoch(), await isAllowed()]).toEqual([before + 1, false]);
    if (withdraw === withdrawals['auth mount']) {
      await login.call('POST', '/sys/auth/cloudB', { type: 'cloudB' });
      await cloudB.configure();
    }
  });

  test('groups', async () => {
    const { id } = (await login.call('POST', '/identity/group', { name: 'g', policies: [] })).body.data;
    const { accessor: mount_accessor } = (await login.call('GET', '/sys/auth/cloudB')).body.data;
    await login.call('POST', '/identity/group-alias', { name: group, mount_accessor, canonical_id: id });
    await writePolicy('of-group', 'kv/data/group');
    const write = (policies: string[]) => login.call('POST', `/identity/group/id/${id}`, { policies });
    const mayReadAsMember = () => login.isAllowed(token, 'kv/data/group');
    await write(['of-group']);
    expect(await mayReadAsMember()).toBe(true);
    await loseCommits(login.db, async () => {
      await change();
      expect(await mayReadAsMember()).toBe(true);
    });
    await write([]);
    expect(await mayReadAsMember()).toBe(false);
  });

  test('roles', async () => {
    const targets = loginTargets({ db: login.db, rows: rowGuard(login.rowKeys) });
    const ttl = async () => (await targets({ namespaceId: 'root', mount: 'cloudB' }, 'web'))?.role?.token_ttl;
    const write = (token_ttl: string) =>
      cloudB.writeRole('web', {
        bound_service_principal_ids: [principal],
        token_policies: ['reading'],
        token_ttl,
      });
    expect(await ttl()).toBe(3_600);
    await loseCommits(login.db, async () => {
      await change();
      expect(await ttl()).toBe(3_600);
    });
    await write('2h');
    expect(await ttl()).toBe(7_200);
  });

  test('namespaces', async () => {
    await login.call('POST', '/sys/namespaces/team', {});
    const { id } = (await login.call('GET', '/sys/namespaces/team')).body.data;
    const inTeam = { ...login.root, namespace: { id, path: 'team' } };
    const ofTeam = (await createIn(login)({ policies: ['dev'] }, inTeam)).body.auth.client_token;
    expect(await login.isAccepted(ofTeam, 'team')).toBe(true);
    await loseCommits(login.db, async () => {
      await change();
      expect(await login.isAccepted(ofTeam, 'team')).toBe(true);
    });
    await login.call('DELETE', '/sys/namespaces/team');
    expect(await login.isAccepted(ofTeam, 'team')).toBe(false);
  });

  test('what only a lost change granted is refused, whether or not another change follows', async () => {
    const mayRead = () => login.isAllowed(token, 'kv/data/lost');
    const lose = () =>
      loseCommits(login.db, async () => {
        await writePolicy('reading', 'kv/data/lost');
        expect(await mayRead()).toBe(true);
      });
    await lose();
    expect(await mayRead()).toBe(false);
    await lose();
    await change();
    await change();
    expect(await mayRead()).toBe(false);
  });
});

test('a previous version of login, which knows no identities of changes, is understood', async () => {
  const { client_token, accessor } = (await createIn(login)({ policies: ['dev'] })).body.auth;
  const changeAsBefore = (concerns: string) =>
    login.db.query(
      `with moved as (update login.access_epoch set value = value + 1 returning value)
       insert into login.access_changes (epoch, concerns) select value, array[$1] from moved`,
      [concerns],
    );
  expect(await login.isAccepted(client_token)).toBe(true);
  await loseCommits(login.db, async () => {
    await changeAsBefore('policy root unrelated');
    expect(await login.isAccepted(client_token)).toBe(true);
  });
  await login.db.query('update login.tokens set expires_at = to_timestamp(0) where accessor = $1', [
    accessor,
  ]);
  await changeAsBefore(`token ${accessor}`);
  expect(await login.isAccepted(client_token)).toBe(false);
});

test('a process whose lease of a rotation was lost does not pass for the holder of the next one', async () => {
  const [row] = await login.db.query<{ id: string }>(
    "select id from login.auth_mounts where path = 'cloudB'",
  );
  const first = await takeLease(login.db, row!.id);
  await login.db.query('update login.cloudb_rotations set leased_until = null');
  const lost = await loseCommits(login.db, () => takeLease(login.db, row!.id));
  const next = await takeLease(login.db, row!.id);
  expect([first, lost, next].every((lease) => lease !== undefined)).toBe(true);
  expect(await renewLease(login.db, lost!)).toBeUndefined();
  expect(await renewLease(login.db, next!)).toBeDefined();
});

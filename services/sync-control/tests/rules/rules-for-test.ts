import { randomUUID } from 'node:crypto';
import { writePolicy as write } from '@secrets/access/testing';
import type { Caller, Capability } from '@secrets/caller';
import { type TestResponse, testCaller } from '@secrets/http/testing';
import { eventually, type Fixture, type SyncControlForTest } from '../sync-control-for-test.ts';

interface PathRule {
  path: string;
  capabilities: Capability[];
}

/** Writes a policy of the root namespace. */
export const writePolicy = (
  { db }: Pick<SyncControlForTest, 'db'>,
  name: string,
  paths: readonly PathRule[],
): Promise<void> =>
  write(db, name, Object.fromEntries(paths.map(({ path, capabilities }) => [path, capabilities])));

/** A caller whose entity has a policy with these rules. */
export async function entityWith(
  sync: Pick<SyncControlForTest, 'db'>,
  policy: string,
  paths: readonly PathRule[],
): Promise<Caller> {
  await writePolicy(sync, policy, paths);
  const entityId = randomUUID();
  await sync.db.query(
    "insert into login.entities (id, namespace_id, name, policies) values ($1, 'root', $2, array[$3])",
    [entityId, `e-${entityId}`, policy],
  );
  return testCaller({
    entityId,
    policies: ['unused'],
    identityPolicies: [policy],
    grants: ['create', 'read', 'update', 'patch', 'delete'],
  });
}

/** A caller whose entity may do everything. */
export const mayEverything = (sync: Pick<SyncControlForTest, 'db'>): Promise<Caller> =>
  entityWith(sync, 'root-like', [{ path: '*', capabilities: ['create', 'read', 'update', 'delete'] }]);

/** The rules of one destination, about one mount. */
export interface RulesForTest {
  path(name: string): string;
  write(name: string, body: object, caller?: Caller): Promise<TestResponse>;
  /** Writes a rule, which must be accepted, with the fingerprint of its plan. Returns its fields. */
  accept(name: string, body: object, caller?: Caller): Promise<TestResponse['body']>;
  /** The plan of a rule with these fields; of the stored one without any. */
  plan(name: string, body?: object, caller?: Caller): Promise<TestResponse>;
  read(name: string): Promise<TestResponse['body']>;
  /** Waits until a rule is up to date, and returns its fields. */
  upToDate(name: string): Promise<TestResponse['body']>;
}

export function rulesOf(
  { call }: Pick<SyncControlForTest, 'call'>,
  { path: destination, mount }: Pick<Fixture, 'path' | 'mount'>,
  owner: Caller,
): RulesForTest {
  const path = (name: string) => `${destination}/rules/${name}`;
  const read = async (name: string) => (await call('GET', path(name))).body.data;
  const post: RulesForTest['write'] = (name, body, caller = owner) =>
    call('POST', path(name), { mount, ...body }, caller);
  const plan: RulesForTest['plan'] = (name, body, caller = owner) =>
    body === undefined
      ? call('GET', `${path(name)}/plan`, undefined, caller)
      : call('POST', `${path(name)}/plan`, { mount, ...body }, caller);
  return {
    path,
    read,
    write: post,
    plan,
    accept: async (name, body, caller = owner) => {
      const { fingerprint } = (await plan(name, body, caller)).body.data;
      const { status, body: answer } = await post(name, { ...body, confirm: fingerprint }, caller);
      if (status !== 200) throw new Error(`the rule was refused: ${JSON.stringify(answer.errors)}`);
      return answer.data;
    },
    upToDate: async (name) => {
      await eventually(async () => (await read(name)).state === 'up_to_date', 180); // other tests may have long transactions
      return read(name);
    },
  };
}

import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sandboxTypes, templateFor, withoutBudgets } from '../../harness/destination-types.ts';
import { eventually, eventuallyEqual } from '../../harness/eventually.ts';
import { expectStatus } from '../../harness/http.ts';
import { type Installation, startInstallation } from '../../harness/installation.ts';
import { openDatabase } from '../../harness/standalone.ts';
import { associatedSecrets } from '../../harness/sync-fixture.ts';
import { otherTool } from './other-tool.ts';

let system: Installation;

beforeAll(async () => {
  Object.assign(process.env, withoutBudgets);
  system = await startInstallation();
});
afterAll(() => system?.stop());

/** Lets more time pass since the last pushes than a store may need to show them. */
async function timePasses(): Promise<void> {
  const db = openDatabase(system);
  await db.query(`update sync.entries set synced_at = synced_at - interval '10 minutes'`);
  await db.close();
}

/** Lets more than a day pass in which nothing has looked at what was pushed. */
async function dayPasses(): Promise<void> {
  const db = openDatabase(system);
  await db.query(
    `update sync.entries set synced_at = now() - interval '25 hours', verified_at = now() - interval '25 hours'`,
  );
  await db.query(
    `update sync.inspections set due_at = now(), round_started_at = now() - interval '25 hours'`,
  );
  await db.close();
}

/** Waits until no drift waits for a decision about its repair. */
async function untilDecided(): Promise<void> {
  const db = openDatabase(system);
  await eventually(
    () => db.query('select from sync.repairs where is_wanted or is_repairing'),
    (open) => open.length === 0,
  );
  await db.close();
}

/** The ID and the settings of a destination, as they are stored. */
async function storedDestination(name: string): Promise<{ id: string; settings: Record<string, unknown> }> {
  const db = openDatabase(system);
  const [row] = await db.query<{ id: string; settings: Record<string, unknown> }>(
    'select id, settings from sync.destinations where name = $1',
    [name],
  );
  await db.close();
  return row!;
}

/** A secret that is synced to a new destination of a type, and what somebody does to it in the store. */
async function createSynced(type: string) {
  const { api, sandbox } = system;
  const tag = randomBytes(4).toString('hex');
  const mount = `kv-${tag}`;
  expectStatus(await api('POST', `sys/mounts/${mount}`, { type: 'kv', options: { version: '2' } }), 204);
  const fields = sandboxTypes.find((one) => one.type === type)!.fields(await sandbox.store(type));
  const path = `sys/sync/destinations/${type}/d-${tag}`;
  const template = {
    granularity: 'secret-path',
    secret_name_template: templateFor(type, `x${tag}{{ .SecretPath }}`),
  };
  expectStatus(await api('POST', path, { ...fields, ...template }), 200);
  const write = async (value: string) =>
    expectStatus(await api('POST', `${mount}/data/s`, { data: { value } }), 200);
  const secret = { mount, secret_name: 's' };
  const line = async () => Object.values(associatedSecrets(await api('GET', `${path}/associations`)))[0]!;
  const untilSynced = () => eventuallyEqual(async () => (await line()).sync_status, 'SYNCED');
  await write('ours');
  expectStatus(await api('POST', `${path}/associations/set`, secret), 200);
  await untilSynced();
  const { external_name: name } = await line();
  return {
    name,
    path,
    secret,
    byHand: (action: 'edit' | 'delete' | 'recreate') => sandbox.changeByHand(type, name, action),
    /** Connects as another destination of the same store. */
    asAnother: async () =>
      otherTool(system, { type, fields, ...(await storedDestination(`d-${tag}`)), id: randomUUID() }),
    line,
    write,
    untilSynced,
    set: async () => expectStatus(await api('POST', `${path}/associations/set`, secret), 200),
    inspect: async () => {
      const answer = expectStatus(await api('POST', `${path}/inspect`, secret), 200);
      return { line: Object.values(associatedSecrets(answer))[0]!, warnings: answer.body.warnings };
    },
  };
}

const changedAt =
  'the external secret was changed by somebody else on \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d UTC';
const version = '\\(version [\\w-]+ instead of [\\w-]+\\)';
/** The `last_error` of each type: some stores show no versions, or not when they were written. */
const changedByHand: Readonly<Record<string, RegExp>> = {
  'cloudA-sm': new RegExp(`^${changedAt} ${version}$`),
  'cloudB-kv': new RegExp(`^${changedAt} ${version}$`),
  'cloudC-sm': new RegExp(`^the external secret was changed by somebody else ${version}$`),
  codehost: new RegExp(`^${changedAt}$`),
  'webhost-project': new RegExp(`^${changedAt}$`),
};

interface ExternalSecret {
  name: string;
  owner: string;
  readable: boolean;
  association: object | null;
}

/** A store may show names in another case. */
const isNamed =
  (wanted: string) =>
  ({ name }: ExternalSecret) =>
    name.toLowerCase() === wanted.toLowerCase();

/** Returns all external secrets in the store of a destination, from pages of this size. */
async function listed(path: string, limit: number): Promise<ExternalSecret[]> {
  const found: ExternalSecret[] = [];
  for (let query = `limit=${limit}`; ; ) {
    const { external_secrets: secrets, next } = expectStatus(
      await system.api('GET', `${path}/external-secrets?${query}`),
      200,
    ).body.data;
    found.push(...secrets);
    if (next === undefined) return found;
    query = `limit=${limit}&after=${next}`;
  }
}

/** Looks at everything in a destination, and returns what that has found by external names. */
async function lookAtAll(path: string): Promise<Record<string, unknown>> {
  const { api } = system;
  expectStatus(await api('POST', `${path}/inspect`), 200);
  await eventually(
    async () => (await api('GET', path)).body.data,
    (data) => !('inspect_initiated_at' in data),
  );
  const lines = Object.values(associatedSecrets(await api('GET', `${path}/associations`)));
  return Object.fromEntries(lines.map((line) => [line.external_name, [line.drift, line.evidence]]));
}

describe.each(sandboxTypes.map(({ type }) => type))('a look at an external secret of %s', (type) => {
  test('finds nothing where nobody has changed it', async () => {
    const { inspect } = await createSynced(type);
    const { line, warnings } = await inspect();
    expect(line).toMatchObject({ sync_status: 'SYNCED', drift: 'none', drift_seen_at: null });
    expect(warnings ?? null).toBeNull();
  });

  test('reports what was changed by hand, until a new value is pushed, and leaves it as it is', async () => {
    const at = await createSynced(type);
    // A store may show times in seconds: a change right after the push looks like the push.
    const reported = await eventually(
      async () => {
        await at.byHand('edit');
        await timePasses();
        return (await at.inspect()).line;
      },
      ({ drift }) => drift !== 'none',
    );
    expect(reported).toMatchObject({
      sync_status: 'CLIENT_SIDE_ERROR',
      drift: 'changed',
      last_error: expect.stringMatching(changedByHand[type]!),
    });
    expect(reported.evidence).toBe(['codehost'].includes(type) ? 'mark' : 'value');
    expect(await at.line()).toEqual(reported);
    expect((await system.sandbox.find(type, at.name))?.value).toBe('theirs');
    await at.write('ours again');
    await at.untilSynced();
    expect(await at.line()).toMatchObject({ drift: 'none', last_error: null });
  });

  test('is taken for a plan, which shows whether the value is the one that a set would push', async () => {
    const { path, secret } = await createSynced(type);
    const plan = async (secretName: string) => {
      const body = { ...secret, secret_name: secretName, look: true };
      const answer = await system.api('POST', `${path}/associations/plan`, body);
      return expectStatus(answer, 200).body.data.external_secrets;
    };
    expectStatus(await system.api('POST', `${secret.mount}/data/t`, { data: { value: 'ours' } }), 200);
    expect(await plan('s')).toEqual([
      expect.objectContaining({ change: 'kept', in_store: 'equal', in_store_reason: null }),
    ]);
    expect(await plan('t')).toEqual([
      expect.objectContaining({ change: 'new', in_store: 'absent', in_store_reason: null }),
    ]);
  });

  test('is taken of everything in the destination on request', async () => {
    const at = await createSynced(type);
    const { api } = system;
    expectStatus(await api('POST', `${at.secret.mount}/data/t`, { data: { value: 'ours' } }), 200);
    const other = { ...at.secret, secret_name: 't' };
    const set = expectStatus(await api('POST', `${at.path}/associations/set`, other), 200);
    const { external_name: unchanged } = Object.values(associatedSecrets(set))[0]!;
    await eventually(
      async () => Object.values(associatedSecrets(await api('GET', `${at.path}/associations`))),
      (lines) => lines.every(({ sync_status: status }) => status === 'SYNCED'),
    );
    const found = await eventually(
      async () => {
        await at.byHand('edit');
        await timePasses();
        return lookAtAll(at.path);
      },
      (one) => JSON.stringify(one[at.name]).includes('changed'),
    );
    expect(found[unchanged]).toEqual(['none', expect.any(String)]);
  });

  test('reports what was deleted by hand', async () => {
    const at = await createSynced(type);
    await at.byHand('edit');
    await at.byHand('delete');
    await timePasses();
    expect((await at.inspect()).line).toMatchObject({
      sync_status: 'CLIENT_SIDE_ERROR',
      drift: 'missing',
      evidence: null,
    });
    await at.set();
    await at.untilSynced();
    expect((await system.sandbox.find(type, at.name))?.value).toContain('ours');
  });

  test('is not needed to list what is in the store, in pages of any size, with the owners that the store shows', async () => {
    const at = await createSynced(type);
    const another = await at.asAnother();
    const theirs = `${at.name}${type === 'codehost' ? 'Z' : 'z'}`;
    await another.write(theirs, 'theirs');
    const found = await listed(at.path, 2);
    expect(found.filter(isNamed(at.name))).toEqual([
      expect.objectContaining({
        owner: 'this_destination',
        readable: type !== 'codehost',
        association: { ...at.secret, sub_key: '' },
      }),
    ]);
    expect(found.filter(isNamed(theirs))).toEqual([
      expect.objectContaining({
        owner: type === 'codehost' ? 'none' : 'another_destination',
        association: null,
      }),
    ]);
    expect(JSON.stringify(found)).not.toContain('ours');
    await another.close();
  });

  test('reports what somebody else has created in its place, and never overwrites it', async () => {
    const at = await createSynced(type);
    const reported = await eventually(
      async () => {
        await at.byHand('recreate');
        await timePasses();
        return (await at.inspect()).line;
      },
      ({ drift }) => drift === 'foreign',
    );
    expect(reported.sync_status).toBe('CLIENT_SIDE_ERROR');
    await at.set();
    await eventuallyEqual(async () => (await at.line()).sync_status, 'CLIENT_SIDE_ERROR');
    expect((await system.sandbox.find(type, at.name))?.value).toBe('theirs');
  });

  test.each([
    ['edit', 'changed'],
    ['delete', 'missing'],
    ['recreate', 'foreign'],
  ] as const)('is followed by a repair, if asked for and not foreign (%s)', async (action, drift) => {
    const at = await createSynced(type);
    const { api, sandbox } = system;
    await eventually(
      async () => {
        if (action === 'delete') await at.byHand('edit');
        await at.byHand(action);
        await timePasses();
        return (await at.inspect()).line;
      },
      (line) => line.drift === drift,
    );
    expectStatus(await api('PATCH', at.path, { drift_policy: 'repair' }), 200);
    if (drift === 'foreign') {
      await untilDecided();
      expect(await at.line()).toMatchObject({ sync_status: 'CLIENT_SIDE_ERROR', drift });
      expect((await sandbox.find(type, at.name))?.value).toBe('theirs');
      return;
    }
    await at.untilSynced();
    expect(await at.line()).toMatchObject({ drift: 'none', last_error: null });
    expect((await sandbox.find(type, at.name))?.value).toContain('ours');
    const query = new URLSearchParams(at.secret).toString();
    const history = expectStatus(await api('GET', `${at.path}/associations/history?${query}`), 200);
    expect(history.body.data.external_secrets[0].outcomes[0]).toMatchObject({ repair_of: drift });
  });

  test('proves nothing right after a push, because reads may be older', async () => {
    const at = await createSynced(type);
    await at.byHand('edit');
    await at.byHand('delete');
    const { line, warnings } = await at.inspect();
    expect(line).toMatchObject({ drift: 'none' });
    expect(warnings).toEqual([expect.stringContaining('look again later')]);
  });
});

test('what was changed by hand is reported without a request, a period after it was verified', async () => {
  const at = await createSynced('cloudA-sm');
  await at.byHand('edit');
  await dayPasses();
  await eventuallyEqual(async () => (await at.line()).drift, 'changed');
  expect((await system.sandbox.find('cloudA-sm', at.name))?.value).toBe('theirs');
});

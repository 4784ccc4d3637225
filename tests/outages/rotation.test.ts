import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Db, openPostgres } from '../../libs/db/src/index.ts';
import { eventually } from '../harness/eventually.ts';
import { runSize } from '../harness/run-size.ts';
import { describeDistributed, type Suite } from './describe-distributed.ts';
import { RetryingClient } from './load/retrying-client.ts';

/**
 * A rotation takes about three seconds here: a call of the directory or of Graph takes 150 ms, and its steps are at
 * least seven calls.
 */
const kills = runSize('ROTATION_KILLS', 7, 13);
const stepMs = 3_250 / kills;
const foreign = ['sandbox', 'of somebody else'];

const define = (suite: Suite) => {
  let db: Db;
  let api: RetryingClient['request'];

  beforeAll(async () => {
    db = openPostgres({ url: suite.system.postgres.url, connections: 1 });
    api = new RetryingClient(suite.system).request;
    await api('POST', 'sys/auth/rotated', { type: 'cloudB' });
    await suite.sandbox.addPassword('of somebody else');
    const { tenantId, clientId } = await suite.sandbox.store('cloudB-kv');
    const secret = await suite.sandbox.addPassword('of the operator');
    const config = { tenant_id: tenantId, resource: 'https://r/', client_id: clientId };
    await api('POST', 'auth/rotated/config', { ...config, client_secret: secret });
  });
  afterAll(() => db?.close());

  const slowDown = async () => {
    for (const store of ['graph', 'directory']) await suite.sandbox.fault({ store, effect: 'slow', ms: 150 });
  };

  /** The lease of the process that was killed ends, and the background work looks at the mount. */
  const letTimePass = () =>
    db.query(
      'update login.cloudb_rotations set leased_until = null, due_at = now() where due_at is not null',
    );

  const ours = async () =>
    (await suite.sandbox.passwords())
      .map(({ displayName }) => displayName)
      .filter((name) => !foreign.includes(name));

  async function works(): Promise<boolean> {
    const { body } = await api('POST', 'auth/rotated/config/check');
    const steps: { step: string; result: string }[] = body.data.steps;
    return steps.find(({ step }) => step === 'the credentials work')?.result === 'ok';
  }

  test('login, killed at any step of a rotation: one password is left, and it works', async () => {
    const reached: Record<string, number> = {};
    for (let kill = 0; kill < kills; kill += 1) {
      await slowDown();
      const rotation = api('POST', 'auth/rotated/rotate-root').catch(() => undefined);
      await sleep(kill * stepMs);
      await suite.system.processes.login.kill();
      const left = (await ours()).length;
      reached[left] = (reached[left] ?? 0) + 1;
      await suite.system.processes.login.start();
      await suite.sandbox.clearFaults();
      await letTimePass();
      await rotation; // the client repeats it
      await letTimePass();
      await eventually(ours, (names) => names.length === 1, 30_000);
      expect(await works()).toBe(true);
      const names = (await suite.sandbox.passwords()).map(({ displayName }) => displayName);
      expect(names).toEqual(expect.arrayContaining(foreign));
    }
    suite.note(
      `killed ${kills} times; passwords of the mount right after a kill, and how often: ${JSON.stringify(reached)}`,
    );
    expect(Object.keys(reached).length).toBeGreaterThan(1);
  });
};

await describeDistributed('rotation of a client secret', define, { isLong: true });

import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { KeysEnv } from '../../services/setup/src/config.ts';
import { createKeys } from '../../services/setup/src/keys/create-keys.ts';
import { ofKind, overlays, render } from './render.ts';
import { type Workload, workloadsOf } from './workloads/workloads.ts';

let folder: string;
let created: Record<string, string[]>;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'keys-'));
  const { folders } = createKeys(KeysEnv.parse({ KEYS_DIR: folder }));
  created = Object.fromEntries(
    folders.map((name) => [`keys-${name}`, readdirSync(join(folder, name)).sort()]),
  );
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The Secret that a workload mounts on /run/keys. */
function keysOf({ pod }: Workload): string | undefined {
  const mount = pod.containers[0]!.volumeMounts?.find(({ mountPath }) => mountPath === '/run/keys');
  return pod.volumes?.find(({ name }) => name === mount?.name)?.secret?.secretName;
}

/** Secrets that the operator creates. */
const ofOperator = ['gateway-tls', 'cloudb-login'];

describe.each(overlays)('the overlay %s', (overlay) => {
  let workloads: Workload[];
  beforeAll(async () => {
    workloads = workloadsOf(await render(overlay)).filter(({ name }) => name !== 'sandbox');
  });

  test('a workload mounts its own keys only, for reading only', () => {
    for (const { name, pod } of workloads) {
      const secrets = pod.volumes!.flatMap(({ secret }) => secret?.secretName ?? []);
      const keys = `keys-${name.replace(/^setup-.*/, 'setup')}`;
      expect([name, secrets.filter((secret) => !ofOperator.includes(secret))]).toEqual([name, [keys]]);
      const mounts = pod.containers[0]!.volumeMounts!.filter(({ mountPath }) =>
        mountPath.startsWith('/run/k'),
      );
      expect(mounts).toEqual([{ name: 'keys', mountPath: '/run/keys', readOnly: true }]);
    }
  });

  test('every file that a setting names is one that the command keys creates', () => {
    for (const workload of workloads) {
      const named = workload.pod.containers[0]!.env!.flatMap(({ value }) =>
        value?.startsWith('/run/keys/') ? [value.slice('/run/keys/'.length)] : [],
      );
      expect(created[keysOf(workload)!]).toEqual(expect.arrayContaining(named));
    }
  });
});

test('in production, every folder that the command keys creates is an ExternalSecret', async () => {
  interface Spec {
    target: { name: string };
    dataFrom: { extract: { key: string } }[];
  }
  const secrets = ofKind<Spec>(await render('production'), 'ExternalSecret');
  expect(secrets.map(({ spec }) => [spec.target.name, spec.dataFrom]).sort()).toEqual(
    Object.keys(created)
      .map((name) => [name, [{ extract: { key: `secrets-service/${name}` } }]])
      .sort(),
  );
});

test('in production, the owner of the database is no superuser, and may create roles', async () => {
  interface Spec {
    enableSuperuserAccess?: boolean;
    bootstrap: { initdb: { owner: string } };
    managed: { roles: object[] };
  }
  const [cluster] = ofKind<Spec>(await render('production'), 'Cluster');
  const { bootstrap, managed, enableSuperuserAccess } = cluster!.spec;
  expect(enableSuperuserAccess).toBeUndefined();
  expect(managed.roles).toEqual([
    {
      name: bootstrap.initdb.owner,
      ensure: 'present',
      login: true,
      createrole: true,
      passwordSecret: { name: 'keys-postgres' },
    },
  ]);
});

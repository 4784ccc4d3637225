import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventuallyEqual } from '../harness/eventually.ts';
import { expectStatus } from '../harness/http.ts';
import { type Installation, startInstallation } from '../harness/installation.ts';
import { SyncFixture } from '../harness/sync-fixture.ts';

let system: Installation;

beforeAll(async () => {
  system = await startInstallation();
});
afterAll(() => system?.stop());

const template = 'by-path/{{ .MountPath }}/{{ .SecretPath }}';

test('associations follow a mount that is moved, and external names stay until a replan', async () => {
  const { api } = system;
  const at = await SyncFixture.create(system, { secret_name_template: template });
  await at.sync('a', { k: '1' });
  const { external_name: name } = (await at.association('a'))!;
  const externalValue = async (external: string) => (await system.sandbox.secrets())[external]?.value;
  expect(await externalValue(name)).toBe('{"k":"1"}');

  const mount = `moved-${at.mount}`;
  const move = { from: at.mount, to: mount };
  const { migration_id: id } = expectStatus(await api('POST', 'sys/remount', move), 200).body.data;
  const { data } = expectStatus(await api('GET', `sys/remount/status/${id}`), 200).body;
  expect(data.migration_info.status).toBe('success');

  expect(await at.association('a')).toMatchObject({ mount, external_name: name, sync_status: 'SYNCED' });
  expectStatus(await api('POST', `${mount}/data/a`, { data: { k: '2' } }), 200);
  await eventuallyEqual(() => externalValue(name), '{"k":"2"}');
  expectStatus(await api('GET', `sys/sync/associations/${mount}/a`), 200);
  expectStatus(await api('GET', `sys/sync/associations/${at.mount}/a`), 404);

  expectStatus(await api('POST', `${at.path}/replan`), 200);
  const renamed = name.replace(at.mount, mount);
  await eventuallyEqual(() => externalValue(renamed), '{"k":"2"}');
  await eventuallyEqual(() => externalValue(name), undefined);

  const removal = { mount, secret_name: 'a' };
  expectStatus(await api('POST', `${at.path}/associations/remove`, removal), 200);
  await eventuallyEqual(() => externalValue(renamed), undefined);
});

test('a new mount at the old path of another has nothing to do with its associations', async () => {
  const { api } = system;
  const at = await SyncFixture.create(system);
  await at.sync('a', { k: '1' });
  expectStatus(await api('POST', 'sys/remount', { from: at.mount, to: `was-${at.mount}` }), 200);
  expectStatus(await api('POST', `sys/mounts/${at.mount}`, { type: 'kv' }), 204);
  expectStatus(await api('POST', `${at.mount}/data/a`, { data: { k: 'other' } }), 200);
  expectStatus(await api('DELETE', `sys/mounts/${at.mount}`), 204);
  expect(await at.association('a')).toMatchObject({ mount: `was-${at.mount}`, sync_status: 'SYNCED' });
  expect(await at.value('a')).toBe('{"k":"1"}');
});

// Tests the compose stack: builds it, starts it with two replicas of most services, runs the demo, turns on TLS everywhere,
// runs the demo and a backup, kills each container in turn and runs the demo again, starts all containers in the wrong order,
// and stops them. Needs Docker; takes minutes.
//
//   node scripts/run.mjs tests/compose/compose.ts
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { workers } from '../../services/setup/src/database-roles.ts';
import { checkConfinement, checkTls } from './confinement.ts';
import { runSteps } from './run-steps.ts';
import { docker, services } from './stack.ts';

const scales = ['login=2', 'secrets=2', 'sync-control=2', 'sync-worker-clouda-sm=2'];
/** Services before those that they need. */
const wrongOrder = [
  'gateway',
  ...workers,
  'sync-control',
  'secrets',
  'login',
  'sandbox',
  'rabbitmq',
  'postgres',
];

const folder = mkdtempSync(join(tmpdir(), 'compose-test-'));
const passphraseFile = join(folder, 'passphrase');
writeFileSync(passphraseFile, 'the passphrase of a test\n', { mode: 0o644 });

await runSteps('compose', async (plain, step) => {
  await step('build', () => plain.compose('build', '--quiet'));
  await step('start', () => plain.up(services, scales));
  await step('run the demo', plain.demo);
  const stack = plain.with({ INTERNAL_TLS: 'on', BACKUP_PASSPHRASE_FILE: passphraseFile });
  const { up, containers } = stack;
  await step('turn on TLS everywhere', () => up(services, scales));
  await step('run the demo', stack.demo);
  await step('check that nothing answers without a certificate', () => checkTls(stack));
  await step('back up, and verify the backup', async () => {
    const run = (service: string, command: string) =>
      stack.ask('run', '--rm', '-e', 'BACKUP_FILE=/data/test.age', service, 'node', 'src/main.js', command);
    await run('backup', 'backup');
    await run('restore', 'verify-backup');
  });
  await step('check the confinement of the containers', () => checkConfinement(stack));
  for (const service of ['postgres', 'rabbitmq', ...services]) {
    await step(`kill ${service} and start it again`, async () => {
      await stack.compose('kill', service);
      await up(services, scales);
    });
    await step('run the demo', stack.demo);
  }
  await step('kill one replica of each service; the demo still passes', async () => {
    for (const service of ['secrets', 'login', 'sync-control', 'sync-worker-clouda-sm'])
      await docker('kill', (await containers(service))[0]!);
    await stack.demo();
  });
  await step('kill everything and start it in the wrong order', async () => {
    await stack.compose('kill');
    for (const name of wrongOrder) await docker('start', ...(await containers(name)));
    await up(services, scales);
    await stack.demo();
  });
  await step('show the memory usage', stack.memory);
  await step('stop every service', async () => {
    await stack.compose('stop', ...services);
    const ids = await containers(...services);
    const codes = await docker('inspect', '--format', '{{.Name}} {{.State.ExitCode}}', ...ids);
    if (/ [1-9]\d*$/m.test(codes)) throw new Error(`not every service exited with 0:\n${codes}`);
  });
});
rmSync(folder, { recursive: true });

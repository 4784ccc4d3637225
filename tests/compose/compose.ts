// The compose stack, for real: built, started with two of each service, the main job, every container killed in turn
// and the main job again, all of them started in the wrong order, an orderly stop. Needs Docker; takes minutes.
//
//   node scripts/run.mjs tests/compose/compose.ts
import { execFileSync } from 'node:child_process';
import { checkConfinement } from './confinement.ts';
import { openStack } from './stack.ts';

const replicas = ['login=2', 'secrets=2', 'sync-control=2', 'sync-worker-clouda-sm=2'].flatMap((scale) => [
  '--scale',
  scale,
]);
const ours = ['gateway', 'login', 'secrets', 'sync-control', 'sync-worker-clouda-sm', 'sandbox'];
const upAll = ['up', '--detach', '--no-build', '--wait', ...replicas, ...ours];

const stack = await openStack();

function step(sentence: string, work: () => void): void {
  const begin = performance.now();
  process.stdout.write(`${sentence}\n`);
  work();
  process.stdout.write(`  done in ${((performance.now() - begin) / 1000).toFixed(1)} s\n`);
}

const docker = (...args: string[]) => execFileSync('docker', args, { encoding: 'utf8' });
const containers = (...services: string[]) =>
  stack
    .ask('ps', '--all', '--quiet', ...services)
    .trim()
    .split('\n');

try {
  step('build', () => stack.compose('build', '--quiet'));
  step('start', () => stack.compose(...upAll));
  step('main job', () => stack.demo());
  step('confinement', () => checkConfinement(stack));
  for (const service of ['postgres', 'rabbitmq', ...ours]) {
    step(`kill ${service}, start it`, () => {
      stack.compose('kill', service);
      stack.compose(...upAll);
    });
    step('main job', () => stack.demo());
  }
  step('one of each two killed, the other goes on', () => {
    for (const service of ['secrets', 'login', 'sync-control', 'sync-worker-clouda-sm'])
      docker('kill', containers(service)[0]!);
    stack.demo();
  });
  step('everything killed, started in the wrong order', () => {
    stack.compose('kill');
    for (const service of [
      'gateway',
      'sync-worker-clouda-sm',
      'sync-control',
      'secrets',
      'login',
      'sandbox',
      'rabbitmq',
      'postgres',
    ]) {
      docker('start', ...containers(service));
    }
    stack.compose(...upAll);
    stack.demo();
  });
  step('memory', () =>
    process.stdout.write(
      docker('stats', '--no-stream', '--format', '  {{.Name}}\t{{.MemUsage}}', ...containers()),
    ),
  );
  step('an orderly stop', () => {
    stack.compose('stop', ...ours);
    const codes = docker(
      'inspect',
      '--format',
      '{{.Name}} {{.State.ExitCode}}',
      ...containers(...ours),
    ).trim();
    if (/ [1-9]\d*$/m.test(codes)) throw new Error(`not every service ended with 0:\n${codes}`);
  });
  console.log('compose: everything was seen where it should be');
} catch (error) {
  console.error(`compose: FAILED: ${error instanceof Error ? error.message : String(error)}`);
  stack.compose('logs', '--tail', '30');
  process.exitCode = 1;
} finally {
  stack.remove();
}

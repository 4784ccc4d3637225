// Tests the compose stack: builds it, starts it with two replicas of most services, runs the demo, kills each container in
// turn and runs the demo again, starts all containers in the wrong order, and stops them. Needs Docker; takes minutes.
//
//   node scripts/run.mjs tests/compose/compose.ts
import { execFileSync } from 'node:child_process';
import { workers } from '../../services/setup/src/database-roles.ts';
import { checkConfinement } from './confinement.ts';
import { openStack } from './stack.ts';

const replicas = ['login=2', 'secrets=2', 'sync-control=2', 'sync-worker-clouda-sm=2'].flatMap((scale) => [
  '--scale',
  scale,
]);
const services = ['gateway', 'login', 'secrets', 'sync-control', ...workers, 'sandbox'];
const upAll = ['up', '--detach', '--no-build', '--wait', ...replicas, ...services];

const stack = await openStack();

function step(sentence: string, work: () => void): void {
  const started = performance.now();
  process.stdout.write(`${sentence}\n`);
  work();
  process.stdout.write(`  done in ${((performance.now() - started) / 1000).toFixed(1)} s\n`);
}

const docker = (...args: string[]) => execFileSync('docker', args, { encoding: 'utf8' });
const containers = (...names: string[]) =>
  stack
    .ask('ps', '--all', '--quiet', ...names)
    .trim()
    .split('\n');

try {
  step('build', () => stack.compose('build', '--quiet'));
  step('start', () => stack.compose(...upAll));
  step('run the demo', () => stack.demo());
  step('check the confinement of the containers', () => checkConfinement(stack));
  for (const service of ['postgres', 'rabbitmq', ...services]) {
    step(`kill ${service} and start it again`, () => {
      stack.compose('kill', service);
      stack.compose(...upAll);
    });
    step('run the demo', () => stack.demo());
  }
  step('kill one replica of each service; the demo still passes', () => {
    for (const service of ['secrets', 'login', 'sync-control', 'sync-worker-clouda-sm'])
      docker('kill', containers(service)[0]!);
    stack.demo();
  });
  step('kill everything and start it in the wrong order', () => {
    stack.compose('kill');
    for (const container of [
      'gateway',
      ...workers,
      'sync-control',
      'secrets',
      'login',
      'sandbox',
      'rabbitmq',
      'postgres',
    ]) {
      docker('start', ...containers(container));
    }
    stack.compose(...upAll);
    stack.demo();
  });
  step('show the memory usage', () =>
    process.stdout.write(
      docker('stats', '--no-stream', '--format', '  {{.Name}}\t{{.MemUsage}}', ...containers()),
    ),
  );
  step('stop every service', () => {
    stack.compose('stop', ...services);
    const codes = docker(
      'inspect',
      '--format',
      '{{.Name}} {{.State.ExitCode}}',
      ...containers(...services),
    ).trim();
    if (/ [1-9]\d*$/m.test(codes)) throw new Error(`not every service exited with 0:\n${codes}`);
  });
  console.log('compose: passed');
} catch (error) {
  console.error(`compose: FAILED: ${error instanceof Error ? error.message : String(error)}`);
  stack.compose('logs', '--tail', '30');
  process.exitCode = 1;
} finally {
  stack.remove();
}

// Tests the profile `observability` of the compose stack: every container of every service is scraped, and every query of
// the dashboard returns data after the demo. Also tests a worker with three containers. Needs Docker; takes minutes.
//
//   node scripts/run.mjs tests/compose/observability.ts
import { checkServer } from './confinement.ts';
import { checkDashboard, checkGrafana, checkTargets, checkWorkOf } from './observed.ts';
import { runSteps } from './run-steps.ts';
import { services } from './stack.ts';

const worker = 'sync-worker-codehost';

await runSteps('observability', async (stack, step) => {
  await step('build', () => stack.compose('build', '--quiet'));
  await step('start, with Prometheus', () => stack.up([...services, 'prometheus']));
  await step('run the demo', stack.demo);
  await step('start two more containers of a worker', () => stack.up(services, [`${worker}=3`]));
  await step('run the demo', stack.demo);
  await step('check that Prometheus scrapes every container', () => checkTargets(stack));
  await step('check that each query of the dashboard returns data', () => checkDashboard(stack));
  await step('check that each container of the worker has work', () => checkWorkOf(stack, worker));
  await step('check the confinement of Prometheus', () => checkServer(stack, 'prometheus'));
  await step('check Grafana', () => checkGrafana(stack));
  await step('show the memory usage', stack.memory);
});

// The main job, end to end, each step printed. Exits 0 only if everything was seen where it should be.
//
//   npm run demo                              starts its own service on temporary data and free ports
//   npm run demo -- --url U --root-token-file F --sandbox-url S     against one that runs, such as the compose stack
import { parseArgs } from 'node:util';
import { ownService, runningService } from './demo/service.ts';
import { tour } from './demo/tour.ts';

const { values } = parseArgs({
  options: {
    url: { type: 'string' },
    'root-token-file': { type: 'string' },
    'sandbox-url': { type: 'string' },
  },
});

const service = values.url === undefined ? await ownService() : runningService(values);
try {
  await tour(service);
  console.log('\ndemo: everything was seen where it should be');
} catch (error) {
  console.error(`\ndemo: FAILED: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
} finally {
  await service.stop();
}

// The main use case end to end. Checks the result of every step; exits with 0 only if all are as expected, with 1 if one
// is not, and with 130 when it is interrupted with Ctrl-C.
//
//   npm run demo                              starts its own service on temporary data and free ports
//   npm run demo -- --url U --root-token-file F --sandbox-url S     uses a running one, such as the compose stack
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

/** The exit codes that a shell reports for these signals. */
const exitCodes = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };

const interruption = new AbortController();
let exitCode = 0;
// Not `once`: after Ctrl-C, the signal arrives twice, from the terminal and from npm.
for (const [signal, code] of Object.entries(exitCodes))
  process.on(signal, () => {
    exitCode = code;
    interruption.abort(new Error('interrupted'));
  });

try {
  await run(interruption.signal);
  console.log('\ndemo: passed, every result was as expected');
} catch (error) {
  console.error(`\ndemo: ${interruption.signal.aborted ? 'interrupted' : `FAILED: ${messageOf(error)}`}`);
  exitCode ||= 1;
}
process.exit(exitCode);

async function run(signal: AbortSignal): Promise<void> {
  const service = values.url === undefined ? await ownService(signal) : runningService(values);
  const interrupted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  try {
    signal.throwIfAborted();
    await Promise.race([tour(service), interrupted]);
  } finally {
    await service.stop();
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

// The sandbox, whose stores are ten minutes behind. What is pushed to them is as old as a store needs to show it.
import { startSandbox } from '../../../services/sandbox/src/index.ts';

const behindMs = 600_000;

const sandbox = await startSandbox({
  port: Number(process.env.PORT),
  clock: () => Date.now() - behindMs,
});
process.once('SIGTERM', () => void sandbox.stop());

import { openStack, type Stack } from './stack.ts';

/** Prints a sentence, does the work, and prints what it returns and how long it took. */
export type Step = (
  sentence: string,
  work: () => Promise<string | undefined> | Promise<void>,
) => Promise<void>;

/**
 * Runs the steps of a program on a new stack, and removes the stack. If a step fails, it prints the reason and the
 * newest log lines, and the exit code is 1.
 */
export async function runSteps(
  name: string,
  steps: (stack: Stack, step: Step) => Promise<void>,
): Promise<void> {
  const stack = await openStack();
  try {
    await steps(stack, timed);
    console.log(`${name}: passed`);
  } catch (error) {
    console.error(`${name}: FAILED: ${error instanceof Error ? error.message : String(error)}`);
    await stack.compose('logs', '--tail', '30');
    process.exitCode = 1;
  } finally {
    await stack.remove();
  }
}

/** The steps of a program, in the terminal. */
export const timed: Step = async (sentence, work) => {
  const started = performance.now();
  process.stdout.write(`${sentence}\n`);
  const result = await work();
  if (result !== undefined) process.stdout.write(`${result.replaceAll(/^/gm, '  ')}\n`);
  process.stdout.write(`  done in ${((performance.now() - started) / 1000).toFixed(1)} s\n`);
};

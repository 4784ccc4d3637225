import { setTimeout as sleep } from 'node:timers/promises';
import { Fault, type FaultKind } from '@secrets/domain';

const maxAttempts = 100;

/** Repeats `act` while it fails with a fault of these kinds, as the runtime does but with shorter delays. */
export async function untilReady<Outcome>(
  act: () => Promise<Outcome>,
  retried: readonly FaultKind[] = ['not_ready'],
): Promise<Outcome> {
  for (let attempt = 1; attempt < maxAttempts; attempt += 1) {
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof Fault) || !retried.includes(error.kind)) throw error;
      await sleep(10);
    }
  }
  return act();
}

import type { Api } from '../system/api-client.ts';

const store = 'cloudA-sm';
/** More calls than any run makes: a fault that expires after so many says how often it was applied. */
const uncounted = 1_000_000_000;

/** A fault of the simulated store (docs/sandbox.md#faults). */
export interface StoreFault {
  effect: 'slow' | 'reset' | 'silence';
  ms?: number;
  operation?: string;
  name?: string;
}

/** Adds a fault and returns how to remove it. */
export async function addFault(sandbox: Api, fault: StoreFault): Promise<() => Promise<void>> {
  const { id } = (await sandbox('POST', 'faults', { store, ...fault })) as { id: string };
  return async () => {
    await sandbox('DELETE', `faults/${encodeURIComponent(id)}`);
  };
}

/** Returns a counter of calls that begin: a fault that slows them by nothing. */
export async function countCalls(
  sandbox: Api,
  matching: Pick<StoreFault, 'operation' | 'name'>,
): Promise<() => Promise<number>> {
  const fault = { store, effect: 'slow', ms: 0, times: uncounted, ...matching };
  const { id } = (await sandbox('POST', 'faults', fault)) as { id: string };
  return async () => {
    const { faults } = (await sandbox('GET', 'faults')) as { faults: { id: string; remaining: number }[] };
    return uncounted - (faults.find((one) => one.id === id)?.remaining ?? uncounted);
  };
}

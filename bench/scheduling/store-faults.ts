import type { Api } from '../system/api-client.ts';

const store = 'cloudA-sm';
/** More calls than any run makes. A fault reports how many calls remain until it expires, so this one counts them. */
const uncounted = 1_000_000_000;

/** A fault of the simulated store (docs/sandbox.md#faults). */
export interface StoreFault {
  effect: 'slow' | 'reset' | 'silence';
  ms?: number;
  operation?: string;
  name?: string;
}

/** Adds a fault and returns how to remove it. */
export const addFault = (sandbox: Api, fault: StoreFault): Promise<() => Promise<void>> =>
  addFaultOf(sandbox, { store, ...fault });

/** Adds a fault to any store, and returns how to remove it. */
export async function addFaultOf(
  sandbox: Api,
  fault: StoreFault & { store: string },
): Promise<() => Promise<void>> {
  const { id } = (await sandbox('POST', 'faults', fault)) as { id: string };
  return async () => {
    await sandbox('DELETE', `faults/${encodeURIComponent(id)}`);
  };
}

/** Adds a fault that delays calls by 0 ms, and returns how to read the number of calls that it was applied to. */
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

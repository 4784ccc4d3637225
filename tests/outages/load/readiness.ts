import { setTimeout as sleep } from 'node:timers/promises';
import type { ServiceProcess } from '../../harness/service-process.ts';

const timeoutMs = 15_000;
const pollMs = 50;

/** The status of `/readyz` of a process; 0 if it does not respond. */
const statusOf = ({ readyUrl }: ServiceProcess): Promise<number> =>
  fetch(readyUrl, { signal: AbortSignal.timeout(timeoutMs) }).then(
    ({ status }) => status,
    () => 0,
  );

/** The status of `/readyz` of each process, by name. */
export const readiness = async (processes: readonly ServiceProcess[]): Promise<Record<string, number>> =>
  Object.fromEntries(await Promise.all(processes.map(async (one) => [one.name, await statusOf(one)])));

/** Statuses of `/readyz` over time, each one once until it changes. */
export interface ReadinessWatch {
  /** Ends it and returns what was seen of each process, by name. */
  end(): Promise<Record<string, number[]>>;
}

/** Watches processes until `end`. */
export function watchReadiness(processes: readonly ServiceProcess[]): ReadinessWatch {
  let isOver = false;
  const watch = async (one: ServiceProcess): Promise<[string, number[]]> => {
    const seen: number[] = [];
    while (!isOver) {
      const status = await statusOf(one);
      if (status !== seen.at(-1)) seen.push(status);
      await sleep(pollMs);
    }
    return [one.name, seen];
  };
  const watches = processes.map(watch);
  return {
    end: async () => {
      isOver = true;
      return Object.fromEntries(await Promise.all(watches));
    },
  };
}

/** The same status for each process. */
export const all = (processes: readonly ServiceProcess[], status: number): Record<string, number> =>
  Object.fromEntries(processes.map(({ name }) => [name, status]));

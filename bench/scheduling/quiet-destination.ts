import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '@secrets/testing';
import { destination, mount, newValue } from '../sync/sync-setup.ts';
import type { System } from './busy-destination.ts';
import { countCalls } from './store-faults.ts';

/** A destination that receives one write at a time. */
export interface Quiet {
  /**
   * Writes one after the other, and returns the milliseconds from the response to each write until its call of the
   * store. A write that does not arrive within `maxDelayMs` counts as that long and is the last one.
   */
  delays(writes: number): Promise<number[]>;
  /** Writes until writes arrive promptly again, at most two minutes. */
  settle(): Promise<void>;
}

export const maxDelayMs = 20_000;
/** The store keeps at most 100 versions of a secret. */
const writesPerSecret = 50;
/** Random, so that writes do not fall into step with anything that happens at an interval. */
const pauseMs = () => 25 + Math.random() * 50;
const pollMs = 3;

/** Associates secrets with the destination `bench`. `writes` is the maximum number of writes in total. */
export async function openQuiet(system: System, writes: number): Promise<Quiet> {
  const { api, sandbox } = system;
  const names = Array.from({ length: 2 + Math.ceil(writes / writesPerSecret) }, (_, at) => `quiet/app-${at}`);
  for (const name of names) {
    await api('POST', `${mount}/data/${name}`, newValue());
    await api('POST', `${destination}/associations/set`, { mount, secret_name: name });
  }
  const arrived = await countCalls(sandbox, { operation: 'PutSecretValue', name: '*/quiet/*' });
  let written = 0;
  /** Returns the delay of one write, or undefined if it does not arrive in time. */
  const writeOne = async (timeoutMs: number): Promise<number | undefined> => {
    written += 1;
    const name = names[written % names.length]!;
    const before = await arrived();
    await api('POST', `${mount}/data/${name}`, newValue());
    const answeredAt = performance.timeOrigin + performance.now();
    const isThere = async () => (await arrived()) > before;
    const isInTime = await eventually(isThere, { timeoutMs, intervalMs: pollMs }).catch(() => false);
    return isInTime ? (await arrivalOf(system, name)) - answeredAt : undefined;
  };
  return {
    delays: async (count) => {
      const delays: number[] = [];
      while (delays.length < count && delays.at(-1) !== maxDelayMs) {
        delays.push((await writeOne(maxDelayMs)) ?? maxDelayMs);
        await sleep(pauseMs());
      }
      return delays;
    },
    settle: async () => {
      await api('PATCH', destination, {}); // ends a pause
      const isPrompt = async () => {
        const delay = (await writeOne(60_000)) ?? maxDelayMs;
        return delay >= 0 && delay < 100; // below 0, it was an earlier write that arrived
      };
      await eventually(isPrompt, { timeoutMs: 120_000 });
    },
  };
}

/** Returns when the newest call for a secret was answered, in ms since 1970. */
async function arrivalOf({ sandbox }: System, name: string): Promise<number> {
  return await eventually(async () => {
    const { calls } = (await sandbox('GET', 'calls?store=cloudA-sm&limit=500')) as {
      calls: { at: string; name?: string }[];
    };
    const call = calls.findLast((one) => one.name?.endsWith(`/${name}`));
    if (call === undefined) throw new Error('a call is not in the log of the store');
    return Date.parse(call.at);
  });
}

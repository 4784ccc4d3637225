import { setTimeout as sleep } from 'node:timers/promises';
import type { Api } from '../harness/http.ts';

const probeMs = 100;

/** Sends a request again and again while `work` is in progress. Returns for how long at most none succeeded, in words. */
export async function longestInterruption(api: Api, work: () => Promise<void>): Promise<string> {
  let isOver = false;
  let [last, longest] = [performance.now(), 0];
  const probe = async () => {
    const { status } = await api('GET', 'sys/mounts').catch(() => ({ status: 0 }));
    if (status !== 200) return;
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  };
  const probes = (async () => {
    for (; !isOver; await sleep(probeMs)) await probe();
  })();
  await work().finally(() => {
    isOver = true;
  });
  await probes;
  return `for ${(longest / 1000).toFixed(1)} s at most, no request succeeded`;
}

import { setTimeout as sleep } from 'node:timers/promises';
import { mount, newValue, type SyncSetup } from './sync-setup.ts';

/** A write, and when it was sent and answered, in ms since 1970. */
export interface Write {
  name: string;
  sentAt: number;
  answeredAt: number;
}

const now = () => performance.timeOrigin + performance.now();

/** Writes a secret of each name at a steady pace, whatever the responses take. */
export async function writeAtPace(
  { product }: SyncSetup,
  names: readonly string[],
  writesPerSecond: number,
): Promise<Write[]> {
  const began = performance.now();
  const pending: Promise<Write>[] = [];
  for (const [at, name] of names.entries()) {
    await sleep(Math.max(0, began + (at * 1_000) / writesPerSecond - performance.now()));
    const sentAt = now();
    const write = product.api('POST', `${mount}/data/${name}`, newValue());
    pending.push(write.then(() => ({ name, sentAt, answeredAt: now() })));
  }
  return await Promise.all(pending);
}

/**
 * Returns when the store has answered each call of an operation, by secret, in ms since 1970. The names of secrets are parts of
 * external names.
 */
export async function callsBySecret(
  { sandbox }: SyncSetup,
  operation: string,
  names: ReadonlySet<string>,
): Promise<Map<string, number[]>> {
  const { calls } = (await sandbox('GET', 'calls?store=cloudA-sm&limit=5000')) as {
    calls: { at: string; operation: string; name: string; outcome: unknown }[];
  };
  const all = [...names];
  const times = calls
    .filter((call) => call.operation === operation && call.outcome === 200)
    .map(({ at, name }) => ({ at: Date.parse(at), name: all.find((one) => name.includes(one)) ?? '' }));
  const bySecret = Map.groupBy(times, ({ name }) => name);
  return new Map([...bySecret].map(([name, of]) => [name, of.map(({ at }) => at).sort((a, b) => a - b)]));
}

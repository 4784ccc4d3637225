import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from '@jest/globals';
import fc from 'fast-check';
import type { Answer } from '../harness/http.ts';
import type { Installation } from '../harness/installation.ts';
import { prepare } from './described-installation.ts';
import { boundedFrom, excessesOf } from './hostile/long-run.ts';

/** Random requests, and how many of them are sent. */
export interface Requests<Request> {
  /** Printed with the figures. */
  name: string;
  count: number;
  /** Seed of the first page. Each further page has a seed that is higher by the size of a page. */
  seed: number;
  drawn: fc.Arbitrary<Request>;
  send(request: Request): Promise<Answer>;
  /** Returns the request as text, for the message of a failure. */
  show(request: Request): string;
}

const pageSize = 500;
const atOnce = 8;
/** Number of times that a long run prints its memory. */
const prints = 10;

/**
 * Sends random requests, and prints their statuses, the slowest one, and the memory of the service meanwhile.
 * @throws an error with the request and its seed if one has no answer, an answer 5xx, or an error without sentences; in a
 *   long run, also if one took more than 2 s, or the memory kept growing
 */
export async function sendRequests<Request>(system: Installation, all: Requests<Request>): Promise<void> {
  const { name, count, drawn } = all;
  const statuses: string[] = [];
  const memory = [system.residentMebibytes()];
  const began = performance.now();
  let slowest = { ms: 0, shown: '' };
  for (let done = 0; done < count; done += pageSize) {
    const seed = all.seed + done;
    const sendOne = async (request: Request) => {
      const shown = () => all.show(request).slice(0, 2_000);
      const started = performance.now();
      const answer = await all.send(request).catch((cause: unknown) => {
        throw new Error(`no response, seed ${seed}: ${shown()}`, { cause });
      });
      const ms = performance.now() - started;
      if (ms > slowest.ms) slowest = { ms, shown: shown().slice(0, 200) };
      statuses.push(String(answer.status));
      const problem = problemOf(answer);
      if (problem !== undefined)
        throw new Error(`${problem}, seed ${seed}: ${shown()} → ${JSON.stringify(answer)}`);
    };
    await prepare(system);
    await inParallel(fc.sample(drawn, { numRuns: Math.min(pageSize, count - done), seed }), sendOne);
    if (Math.floor((done * prints) / count) === Math.floor(((done + pageSize) * prints) / count)) continue;
    memory.push(system.residentMebibytes());
    if (count > pageSize) process.stderr.write(`${done + pageSize} ${name}, up to seed ${seed}\n`);
  }
  const seconds = Math.round((performance.now() - began) / 1_000);
  await sleep(1_000); // what the last requests have started
  memory.push(system.residentMebibytes());
  console.log(
    `${count} ${name} from seed ${all.seed} in ${seconds} s: ${JSON.stringify(counted(statuses))}, slowest ` +
      `${Math.round(slowest.ms)} ms (${slowest.shown}), memory in MiB ${memory.join(', ')}`,
  );
  if (count > boundedFrom) expect(excessesOf({ slowestMs: slowest.ms, memory })).toEqual([]);
}

function problemOf({ status, body }: Answer): string | undefined {
  if (status >= 500) return 'a failure';
  if (status < 400) return undefined;
  const errors: unknown = (body as { errors?: unknown } | undefined)?.errors;
  const isEnvelope = status === 404 && (body as { data?: unknown })?.data !== undefined; // of a deleted version
  return Array.isArray(errors) || isEnvelope ? undefined : 'an error without sentences';
}

/** Calls the function for all items, a few at a time. */
async function inParallel<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const queue = [...items];
  const worker = async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

export const counted = (texts: readonly string[]): Record<string, number> =>
  Object.fromEntries([...Map.groupBy(texts, (text) => text)].map(([text, all]) => [text, all.length]));

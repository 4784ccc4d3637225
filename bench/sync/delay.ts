import type { BenchOptions } from '../bench-options.ts';
import { commitTimes, publishTimes } from '../limits/steps.ts';
import type { Report } from '../report.ts';
import { median, quantile } from '../statistics.ts';
import { destination, mount, newValue, type SyncSetup } from './sync-setup.ts';

const writes = 200;
/** Several, since the store takes a limited number of versions of each. */
const names = Array.from({ length: 5 }, (_, at) => `delay/app-${at}`);
const nameOf = (write: number): string => names[write % names.length]!;
const columns = ['', 'p50 ms', 'p99 ms', 'delay / limit'];

/** Commits that lie between the answer to a write and the external call: two relays take, the intent, the claim. */
const commitsBetween = 4;
const publishesBetween = 2;

/** How long after a write's answer the new value arrives at the store. */
export async function measureDelay(setup: SyncSetup, { servers, log }: BenchOptions): Promise<Report> {
  for (const name of names) {
    await setup.product.api('POST', `${mount}/data/${name}`, newValue());
    await setup.product.api('POST', `${destination}/associations/set`, { mount, secret_name: name });
  }
  const delays = await delaysOf(setup, log);
  log('the steps alone');
  const steps = {
    commit: await commitTimes(servers.databaseUrl, writes),
    publish: await publishTimes(servers.amqpUrl, writes),
    call: await callTimes(setup),
  };
  const limit = [0.5, 0.99].map(
    (share) =>
      commitsBetween * quantile(steps.commit, share) +
      publishesBetween * quantile(steps.publish, share) +
      quantile(steps.call, share),
  );
  const rows = [
    row('from the response to a write until the external write', delays, median(delays) / limit[0]!),
    ['limit: the steps in between, each alone', limit[0]!.toFixed(1), limit[1]!.toFixed(1), '1.00'],
    row('a commit in Postgres', steps.commit),
    row('a confirmed publish to a quorum queue', steps.publish),
    row('a PutSecretValue of the provider’s client', steps.call),
  ];
  return { title: 'Delay of one write', columns, rows, notes, measured: { delays, steps } };
}

const notes = [
  `${writes} writes, one after the other; the external write counts when the simulation responds to it`,
  `limit: ${commitsBetween} commits, ${publishesBetween} confirmed publishes and one external call, each measured alone; its p99 is the sum of theirs`,
];

function row(what: string, times: number[], ofLimit?: number): string[] {
  return [what, median(times).toFixed(1), quantile(times, 0.99).toFixed(1), ofLimit?.toFixed(2) ?? ''];
}

async function delaysOf(setup: SyncSetup, log: (line: string) => void): Promise<number[]> {
  const delays: number[] = [];
  for (let at = 0; at < writes; at += 1) {
    const seen = await lastPut(setup);
    await setup.product.api('POST', `${mount}/data/${nameOf(at)}`, newValue());
    const answered = performance.timeOrigin + performance.now();
    delays.push((await nextPut(setup, seen)) - answered);
    if ((at + 1) % 50 === 0) log(`${at + 1} of ${writes} writes, p50 so far ${median(delays).toFixed(1)} ms`);
  }
  return delays;
}

/** Looks until the log of the simulation shows another write; gives its moment, in ms since 1970. */
async function nextPut(setup: SyncSetup, seen: string): Promise<number> {
  const end = Date.now() + 30_000;
  while (Date.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    const last = await lastPut(setup);
    if (last !== seen) return Date.parse(last);
  }
  throw new Error('a write did not arrive at the store within 30 s');
}

async function lastPut({ sandbox }: SyncSetup): Promise<string> {
  const { calls } = (await sandbox('GET', 'calls?store=cloudA-sm&limit=5')) as {
    calls: { at: string; operation: string; outcome: unknown }[];
  };
  return (
    calls.findLast(({ operation, outcome }) => operation === 'PutSecretValue' && outcome === 200)?.at ?? ''
  );
}

async function callTimes({ looper, access }: SyncSetup): Promise<number[]> {
  const value = JSON.stringify(newValue().data);
  const limitNames = names.map((name) => `limit/${name}`);
  await looper.run({ access, operation: 'create', names: limitNames, value, atOnce: 1 });
  const puts = Array.from({ length: writes }, (_, at) => `limit/${nameOf(at)}`);
  return (await looper.run({ access, operation: 'put', names: puts, value, atOnce: 1 })).milliseconds;
}

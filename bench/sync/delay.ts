import { eventually } from '@secrets/testing';
import type { BenchOptions } from '../command-line.ts';
import { commitTimes, publishTimes } from '../limits/steps.ts';
import { median, quantile } from '../load/statistics.ts';
import type { Report } from '../report.ts';
import { destination, mount, newValue, type SyncSetup } from './sync-setup.ts';

const writes = 200;
/** Several, because the store limits the number of versions of a secret. */
const names = Array.from({ length: 5 }, (_, at) => `delay/app-${at}`);
const nameOf = (write: number): string => names[write % names.length]!;
const columns = ['', 'p50 ms', 'p99 ms', 'delay / limit'];

/** Commits between the response to a write and the external call: two by relays, the intent, and the claim. */
const commitsBetween = 4;
const publishesBetween = 2;

/** Measures the time from the response to a write until the new value arrives at the store. */
export async function measureDelay(setup: SyncSetup, { servers, log }: BenchOptions): Promise<Report> {
  for (const name of names) {
    await setup.product.api('POST', `${mount}/data/${name}`, newValue());
    await setup.product.api('POST', `${destination}/associations/set`, { mount, secret_name: name });
  }
  const delays = await delaysOf(setup, log);
  log('measuring each step alone');
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
    ['limit: sum of the steps, each alone', limit[0]!.toFixed(1), limit[1]!.toFixed(1), '1.00'],
    row('one commit in Postgres', steps.commit),
    row('one confirmed publication to a quorum queue', steps.publish),
    row('one PutSecretValue of the provider’s client', steps.call),
  ];
  return { title: 'Delay of one write', columns, rows, notes, measured: { delays, steps } };
}

const notes = [
  `${writes} sequential writes; the time of the external write is that of the simulation's response`,
  `limit: ${commitsBetween} commits, ${publishesBetween} confirmed publications and one external call, each measured alone; its p99 is the sum of theirs`,
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

/** Waits until the simulation's log shows another write, and returns its time in ms since 1970. */
async function nextPut(setup: SyncSetup, seen: string): Promise<number> {
  return await eventually(async () => {
    const last = await lastPut(setup);
    if (last === seen) throw new Error('a write did not arrive at the store');
    return Date.parse(last);
  });
}

async function lastPut({ sandbox }: SyncSetup): Promise<string> {
  const { calls } = (await sandbox('GET', 'calls?store=cloudA-sm&limit=5')) as {
    calls: { at: string; operation: string; outcome: unknown }[];
  };
  return (
    calls.findLast(({ operation, outcome }) => operation === 'PutSecretValue' && outcome === 200)?.at ?? ''
  );
}

async function callTimes({ storeProcess, access }: SyncSetup): Promise<number[]> {
  const value = JSON.stringify(newValue().data);
  const limitNames = names.map((name) => `limit/${name}`);
  await storeProcess.run({ access, operation: 'create', names: limitNames, value, concurrency: 1 });
  const puts = Array.from({ length: writes }, (_, at) => `limit/${nameOf(at)}`);
  return (await storeProcess.run({ access, operation: 'put', names: puts, value, concurrency: 1 }))
    .milliseconds;
}

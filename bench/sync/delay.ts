import type { BenchOptions } from '../command-line.ts';
import { commitTimes, publishTimes } from '../limits/steps.ts';
import { median, quantile } from '../load/statistics.ts';
import { figure, verdictOf } from '../output/figure.ts';
import type { Report } from '../output/report.ts';
import { callsBySecret, writeAtPace } from './paced-writes.ts';
import { destination, mount, newValue, type SyncSetup, untilTrue, withSyncSetup } from './sync-setup.ts';

const writesPerSecond = 50;
const writes = 1_000;
/** Before the measurement: the processes have just started, and their code is not compiled yet. */
const warmUpWrites = 1_000;
/** Number of measurements of each step alone. */
const steps = 200;
/** Names of the secrets, one for each write of a second. */
const names = Array.from({ length: writesPerSecond }, (_, at) => `delay/app-${at}.`);
const nameOf = (write: number): string => names[write % names.length]!;
const writtenNames = (count: number): string[] => Array.from({ length: count }, (_, at) => nameOf(at));
const columns = ['', 'p50 ms', 'p99 ms', 'delay / limit', 'p50 met, p99 met'];
const target = { p50: 8, p99: 40 };

/** Commits between the response to a write and the external call: two by relays, the intent, and the claim. */
const commitsBetween = 4;
const publishesBetween = 2;

/** Measures the time from the response to a write until the new value arrives at the store, unless types were chosen. */
export const benchDelay = async (options: BenchOptions): Promise<Report[]> =>
  options.types === undefined
    ? withSyncSetup(options, {}, async (setup) => [await measureDelay(setup, options)])
    : [];

async function measureDelay(setup: SyncSetup, { servers, log }: BenchOptions): Promise<Report> {
  for (const name of names) {
    await setup.product.api('POST', `${mount}/data/${name}`, newValue());
    await setup.product.api('POST', `${destination}/associations/set`, { mount, secret_name: name });
  }
  await writeAtPace(setup, writtenNames(warmUpWrites), writesPerSecond);
  await untilTrue(setup, 'the writes before the measurement are pushed', allPushed);
  const delays = await delaysOf(setup, log);
  log('measuring each step alone');
  const alone = {
    commit: await commitTimes(servers.databaseUrl, steps),
    publish: await publishTimes(servers.amqpUrl, steps),
    call: await callTimes(setup),
  };
  const limit = [0.5, 0.99].map(
    (share) =>
      commitsBetween * quantile(alone.commit, share) +
      publishesBetween * quantile(alone.publish, share) +
      quantile(alone.call, share),
  );
  const figures = [
    delayFigure('p50', median(delays), limit[0]!),
    delayFigure('p99', quantile(delays, 0.99), limit[1]!),
  ];
  const rows = [
    [
      ...row('from the response to a write until the external write', delays, median(delays) / limit[0]!),
      figures.map(verdictOf).join(', '),
    ],
    ['limit: sum of the steps, each alone', limit[0]!.toFixed(1), limit[1]!.toFixed(1), '1.00'],
    row('one commit in Postgres', alone.commit),
    row('one confirmed publication to a quorum queue', alone.publish),
    row('one put of the provider’s client, in two calls', alone.call),
  ];
  return { title: 'Delay of one write', columns, rows, notes, measured: { delays, steps: alone }, figures };
}

const delayFigure = (percentile: keyof typeof target, measured: number, steps: number) =>
  figure({
    name: `delay of a write, ${percentile}`,
    measured,
    unit: 'ms',
    peer: { name: 'the steps alone', measured: steps },
    target: { of: 'measured', atMost: target[percentile] },
  });

const notes = [
  `delay: ${writes} writes, ${writesPerSecond} per second, until the response of the simulated store`,
  `delay: target p50 ${target.p50} ms, p99 ${target.p99} ms`,
  `limit: ${commitsBetween} commits, ${publishesBetween} confirmed publications and one external put, each measured alone; its p99 is the sum of theirs`,
];

function row(what: string, times: number[], ofLimit?: number): string[] {
  return [what, median(times).toFixed(1), quantile(times, 0.99).toFixed(1), ofLimit?.toFixed(2) ?? ''];
}

/** SQL condition: no write waits to be pushed. */
const allPushed = `not exists (select from secrets.outbox) and not exists (select from sync.entries where status <> 'SYNCED')
  and not exists (select from sync.associations a join secrets.secrets s on s.id = a.secret_id where a.planned_revision < s.revision)`;

/**
 * Returns the delays in ms. A write has arrived with the first put of its name after it was sent: each name is written
 * once per second, and after a longer delay two of its writes may be pushed together.
 */
async function delaysOf(setup: SyncSetup, log: (line: string) => void): Promise<number[]> {
  const began = performance.now();
  const written = await writeAtPace(setup, writtenNames(writes), writesPerSecond);
  log(`${writes} writes in ${((performance.now() - began) / 1_000).toFixed(1)} s`);
  await untilTrue(setup, 'every write is pushed', allPushed);
  const puts = await callsBySecret(setup, 'PutSecretValue', new Set(names));
  const arrivals = written.map(({ name, sentAt }) => puts.get(name)!.find((at) => at >= Math.floor(sentAt))!);
  log(`${new Set(written.map(({ name }, at) => `${name} ${arrivals[at]}`)).size} puts`);
  return written.map(({ answeredAt }, at) => arrivals[at]! - answeredAt);
}

async function callTimes({ storeProcess, addresses }: SyncSetup): Promise<number[]> {
  const value = JSON.stringify(newValue().data);
  const address = addresses.get('cloudA-sm')!;
  const limitNames = names.map((name) => `limit/${name}`);
  await storeProcess.run({ address, operation: 'create', names: limitNames, value, concurrency: 1 });
  const puts = Array.from({ length: steps }, (_, at) => `limit/${nameOf(at)}`);
  return (await storeProcess.run({ address, operation: 'put', names: puts, value, concurrency: 1 }))
    .milliseconds;
}

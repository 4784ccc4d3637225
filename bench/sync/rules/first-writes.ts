import type { BenchOptions } from '../../command-line.ts';
import { median, quantile } from '../../load/statistics.ts';
import { figure, verdictOf } from '../../output/figure.ts';
import type { Report } from '../../output/report.ts';
import { callsBySecret, writeAtPace } from '../paced-writes.ts';
import { destination, mount, newValue, type SyncSetup, untilTrue, withSyncSetup } from '../sync-setup.ts';
import { untilUpToDate, writeRule } from './write-rule.ts';

const writesPerSecond = 50;
const maxRatio = 1.3;
/** Code is compiled, and caches are filled. */
const warmUpWrites = 300;
const folder = 'first';

const kinds = {
  associated: 'a write of an associated secret',
  first: 'the first write of a matching secret',
} as const;
type Kind = keyof typeof kinds;

/** Measures how soon a new secret that a rule matches is outside, next to a new version of one that is associated. */
export const benchFirstWrites = (options: BenchOptions): Promise<Report[]> =>
  withSyncSetup(options, {}, async (setup) => {
    for (const name of associated) {
      await setup.product.api('POST', `${mount}/data/${name}`, newValue());
      await setup.product.api('POST', `${destination}/associations/set`, { mount, secret_name: name });
    }
    await writeRule(setup, destination, { mount, folder });
    await untilUpToDate(setup, folder);
    for (const kind of ['associated', 'first'] as const) await turn(setup, kind, warmUpWrites);
    const delays: Record<Kind, number[]> = { associated: [], first: [] };
    for (let round = 0; round < options.rounds; round += 1)
      for (const kind of round % 2 === 0
        ? (['associated', 'first'] as const)
        : (['first', 'associated'] as const)) {
        const measured = await turn(setup, kind, writesPerSecond * options.seconds);
        delays[kind].push(...measured);
        options.log(`${kinds[kind]}: ${measured.length} writes, p50 ${median(measured).toFixed(1)} ms`);
      }
    return [reportOf(delays)];
  });

/** One for each write of a second. */
const associated = Array.from({ length: writesPerSecond }, (_, at) => `before/app-${at}.`);
let created = 0;

function writtenNames(kind: Kind, count: number): string[] {
  return Array.from({ length: count }, (_, at) => {
    if (kind === 'associated') return associated[at % associated.length]!;
    created += 1;
    return `${folder}/app-${created}.`;
  });
}

/** Returns the ms from the response to each write until the store has answered the call with its value. */
async function turn(setup: SyncSetup, kind: Kind, count: number): Promise<number[]> {
  const names = writtenNames(kind, count);
  const written = await writeAtPace(setup, names, writesPerSecond);
  await untilTrue(setup, 'every write is pushed', allPushed);
  const operation = kind === 'first' ? 'CreateSecret' : 'PutSecretValue';
  const calls = await callsBySecret(setup, operation, new Set(names));
  return written.map(({ name, sentAt, answeredAt }) => {
    const arrived = calls.get(name)?.find((at) => at >= Math.floor(sentAt));
    if (arrived === undefined) throw new Error(`the call for ${name} is not in the log of the store`);
    return arrived - answeredAt;
  });
}

/** SQL condition: no write waits to be pushed. */
const allPushed = `not exists (select from secrets.outbox) and not exists (select from sync.entries where status <> 'SYNCED')
  and (select count(*) from sync.associations) = ${associated.length} + (select count(*) from secrets.secrets where path like '${folder}/%')`;

function reportOf(delays: Record<Kind, number[]>): Report {
  const first = figure({
    name: `${kinds.first}, p50`,
    measured: median(delays.first),
    unit: 'ms',
    peer: { name: 'that of an associated one', measured: median(delays.associated) },
    target: { of: 'ratio', atMost: maxRatio },
  });
  const row = (kind: Kind) => [0.5, 0.99].map((share) => quantile(delays[kind], share).toFixed(1));
  return {
    title: 'Delay until a secret is outside that a rule matches',
    columns: ['', 'p50 ms', 'p99 ms', 'p50 / associated', 'target', 'met'],
    rows: [
      [kinds.associated, ...row('associated'), '', '', ''],
      [kinds.first, ...row('first'), first.ratio!.toFixed(2), `≤ ${maxRatio}`, verdictOf(first)],
    ],
    notes: [
      `rules: from the response to a write until the simulated store has responded; ${writesPerSecond} writes per second, in alternating turns`,
    ],
    measured: delays,
    figures: [first],
  };
}

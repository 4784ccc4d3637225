import type { BenchOptions } from '../../command-line.ts';
import { median, quantile } from '../../load/statistics.ts';
import { figure, verdictOf } from '../../output/figure.ts';
import type { Report } from '../../output/report.ts';
import { newValue, type SyncSetup, withSyncSetup } from '../sync-setup.ts';

const rules = 10_000;
const maxRatio = 1.05;
const warmUpWrites = 200;
/** Writes of each mount for each second of a measurement: their number decides how exact the ratio is. */
const writesPerSecond = 60;

/** The mounts, without rules and with them. */
const mounts = { without: 'bench-no-rules', beside: 'bench-rules' } as const;
type Place = keyof typeof mounts;

/** Measures the first write of a secret in a mount with rules that do not match it, next to one without rules. */
export const benchBesideRules = (options: BenchOptions): Promise<Report[]> =>
  withSyncSetup(options, {}, async (setup) => {
    for (const path of Object.values(mounts))
      await setup.product.api('POST', `sys/mounts/${path}`, { type: 'kv', options: { version: '2' } });
    await insertRules(setup);
    await measure(setup, warmUpWrites);
    const times: Record<Place, number[]> = { without: [], beside: [] };
    for (let round = 0; round < options.rounds; round += 1) {
      const measured = await measure(setup, writesPerSecond * options.seconds);
      for (const place of ['without', 'beside'] as const) times[place].push(...measured[place]);
      options.log(
        `${rules} rules: p50 ${median(measured.beside).toFixed(2)} ms, without ${median(measured.without).toFixed(2)} ms`,
      );
    }
    return [reportOf(times)];
  });

/** Inserts rules that are not due, with as many different beginnings. */
async function insertRules({ database }: SyncSetup): Promise<void> {
  await database.query(
    `insert into sync.rules (id, destination_id, name, mount_id, mount, path, beginning, exclude, metadata_match, sealed_owner, due_at)
     select gen_random_uuid(), d.id, 'r' || n, m.id, m.path, 'team-' || n || '/*', 'team-' || n, '{}', '{}', '\\x00', 'infinity'
       from (select id from sync.destinations limit 1) d, secrets.mounts m, generate_series(1, $2::int) as n where m.path = $1`,
    [mounts.beside, rules],
  );
  await database.query('vacuum (analyze) sync.rules, secrets.watched_patterns');
  await database.query('checkpoint');
}

let written = 0;

/** Writes one secret after the other, of each mount in turn. Returns the times of the responses in ms. */
async function measure({ product }: SyncSetup, count: number): Promise<Record<Place, number[]>> {
  const times: Record<Place, number[]> = { without: [], beside: [] };
  for (let at = 0; at < count; at += 1) {
    written += 1;
    const order = written % 2 === 0 ? (['without', 'beside'] as const) : (['beside', 'without'] as const);
    for (const place of order) {
      const began = performance.now();
      await product.api('POST', `${mounts[place]}/data/other/app/config-${written}`, newValue());
      times[place].push(performance.now() - began);
    }
  }
  return times;
}

function reportOf(times: Record<Place, number[]>): Report {
  const beside = figure({
    name: `first write of a secret beside ${rules} rules, p50`,
    measured: median(times.beside),
    unit: 'ms',
    peer: { name: 'that without rules', measured: median(times.without) },
    target: { of: 'ratio', atMost: maxRatio },
  });
  const row = (place: Place) => [0.5, 0.99].map((share) => quantile(times[place], share).toFixed(2));
  return {
    title: 'First write of a secret that no rule matches',
    columns: ['', 'p50 ms', 'p99 ms', 'p50 / without', 'target', 'met'],
    rows: [
      ['without rules', ...row('without'), '', '', ''],
      [
        `beside ${rules} rules of the mount`,
        ...row('beside'),
        beside.ratio!.toFixed(3),
        `≤ ${maxRatio}`,
        verdictOf(beside),
      ],
    ],
    notes: [
      `no match: response times of ${times.beside.length} first writes of each mount, one after the other, in turn; later versions look up no rules`,
    ],
    measured: times,
    figures: [beside],
  };
}

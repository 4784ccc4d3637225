import { migrate, openPostgres } from '@secrets/db';
import { serviceSchemas } from '@secrets/schemas';
import { admitEntries, recordWorker } from '@secrets/sync-entries';
import pg from 'pg';
import type { BenchOptions } from '../command-line.ts';
import { median, quantile } from '../load/statistics.ts';
import { type Figure, figure, figureColumns, figureRow } from '../output/figure.ts';
import type { Report } from '../output/report.ts';
import { type } from './busy-destination.ts';

const defaultEntries = 1_100_000;
const destinations = 1_000;
const duePercentages = [2, 25, 50, 100];
const batches = 20;
const batchSize = 500;
/** The scheduler keeps 2.5 entries per slot outstanding. */
const slots = batchSize / 2.5;
const budget = { perSecond: 1_000_000, burst: 1_000_000 };
const targetMs = 20;
/** Maximum ratio of the duration of a batch at the largest share of due entries to that at the smallest. */
const maxGrowth = 1.5;

/** Measures how long the scheduler takes to admit a batch, at different shares of due entries. */
export async function benchAdmission({ servers, entries, log }: BenchOptions): Promise<Report[]> {
  const total = entries ?? defaultEntries;
  const db = openPostgres({ url: servers.databaseUrl, connections: 2, statementTimeoutMs: 120_000 });
  const database = new pg.Client({ connectionString: servers.databaseUrl });
  await database.connect();
  try {
    for (const schema of serviceSchemas) await migrate(db, schema);
    log(`inserting ${total} entries in ${destinations} destinations`);
    await insertAll(database, total);
    const measured: Record<number, Awaited<ReturnType<typeof measure>>> = {};
    for (const percent of duePercentages) {
      await makeDue(database, percent);
      measured[percent] = await measure(db, database);
      const { admissions, sizes } = measured[percent];
      log(`${percent} % due: ${median(admissions).toFixed(1)} ms for ${median(sizes)} entries`);
    }
    return [reportOf(measured, total)];
  } finally {
    await database.end();
    await db.close();
  }
}

/** Each entry has a random `rank` from 0 to 100 in `attempts`, so that a share of them can be selected. None is due. */
async function insertAll(database: pg.Client, total: number): Promise<void> {
  await database.query('set synchronous_commit = off');
  await database.query(
    `insert into sync.destinations (namespace_id, namespace_path, type, name, settings)
     select 'root', '', $1, 'bench-' || n, '{}' from generate_series(1, $2::int) as n`,
    [type, destinations],
  );
  await database.query(
    `insert into sync.associations (destination_id, namespace_id, mount_id, mount, accessor, secret_id, secret_name, planned_revision)
     select id, 'root', gen_random_uuid(), 'bench', 'bench', gen_random_uuid(), name, 1 from sync.destinations`,
  );
  await database.query(
    `insert into sync.entries (association_id, destination_id, destination_type, external_name, collision_key,
                               applied_generation, status, attempts, due_at)
     select a.id, a.destination_id, $1, n::text, n::text, 1, 'SYNCED', n % 100, null
       from sync.associations a, generate_series(1, $2::int) as n`,
    [type, Math.ceil(total / destinations)],
  );
}

/** Makes this share of all entries due, each at another moment of the last hour. */
async function makeDue(database: pg.Client, percent: number): Promise<void> {
  await database.query(
    `update sync.entries set due_at = now() - random() * interval '1 hour', applied_generation = 0, status = 'PENDING'
      where attempts < $1 and due_at is null`,
    [percent],
  );
  await database.query('vacuum (analyze) sync.entries');
  await database.query('checkpoint');
}

/** Admits batches, in turn with bare updates of as many rows. Between them, what was admitted is due again. */
async function measure(db: ReturnType<typeof openPostgres>, database: pg.Client) {
  const admissions: number[] = [];
  const updates: number[] = [];
  const sizes: number[] = [];
  for (let batch = 0; batch <= batches; batch += 1) {
    await recordWorker(db, { id: 'bench', destinationType: type, slots });
    const began = performance.now();
    const { messages } = await admitEntries(db, { destinationType: type, budget });
    const admission = performance.now() - began;
    await makeDueAgain(
      database,
      messages.map(({ entry_id }) => entry_id),
    );
    const update = await bareUpdate(db, database);
    if (batch === 0) continue; // opens connections and prepares statements
    admissions.push(admission);
    updates.push(update);
    sizes.push(messages.length);
  }
  return { admissions, updates, sizes };
}

async function makeDueAgain(database: pg.Client, ids: string[]): Promise<void> {
  await database.query(
    `update sync.entries set announced_at = null, due_at = now() - random() * interval '1 hour' where id = any($1::uuid[])`,
    [ids],
  );
}

/** Returns the milliseconds of the write that any scheduler has to make, for rows whose IDs are known. */
async function bareUpdate(db: ReturnType<typeof openPostgres>, database: pg.Client): Promise<number> {
  const { rows } = await database.query<{ id: string }>(
    'select id from sync.entries where due_at is not null order by random() limit $1',
    [batchSize],
  );
  const ids = rows.map(({ id }) => id);
  const began = performance.now();
  await db.query(
    `update sync.entries set announced_at = now(), due_at = now() + interval '30 seconds' where id = any($1::uuid[])
     returning id, destination_id`,
    [ids],
  );
  const took = performance.now() - began;
  await makeDueAgain(database, ids);
  return took;
}

function reportOf(measured: Record<number, Awaited<ReturnType<typeof measure>>>, total: number): Report {
  const smallest = median(measured[duePercentages[0]!]!.admissions);
  const rows = Object.entries(measured).map(([percent, { admissions, updates, sizes }]) => [
    ...figureRow(batchFigure(`${percent} % due, ${median(sizes)} entries`, admissions, updates)),
    quantile(admissions, 0.99).toFixed(1),
    (median(admissions) / smallest).toFixed(2),
  ]);
  const figures = Object.entries(measured).map(([percent, { admissions, updates }]) =>
    batchFigure(`${percent} % due`, admissions, updates),
  );
  const largest = median(measured[duePercentages.at(-1)!]!.admissions);
  figures.push(
    figure({
      name: `${duePercentages.at(-1)} % due, against ${duePercentages[0]} %`,
      measured: largest,
      unit: 'ms',
      peer: { name: `${duePercentages[0]} % due`, measured: smallest },
      target: { of: 'ratio', atMost: maxGrowth },
    }),
  );
  const title = `Taking a batch of ${batchSize} from ${total} entries in ${destinations} destinations, ms`;
  const columns = [...figureColumns, 'max', `p50 / p50 at ${duePercentages[0]} %`];
  return { title, columns, rows, notes, measured, figures };
}

const batchFigure = (name: string, admissions: number[], updates: number[]): Figure =>
  figure({
    name,
    measured: median(admissions),
    unit: 'ms',
    peer: { name: 'the bare update', measured: median(updates) },
    target: { of: 'measured', atMost: targetMs },
  });

const notes = [
  `batches: median of ${batches}, each with its transaction`,
  'batches: compared with an update of as many rows whose IDs are known',
];

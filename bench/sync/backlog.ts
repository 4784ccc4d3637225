import type { BenchOptions } from '../command-line.ts';
import type { StoreJob } from '../limits/store-loop.ts';
import { median } from '../load/statistics.ts';
import type { Report } from '../report.ts';
import { forEach } from '../system/api-client.ts';
import { destination, mount, newValue, type SyncSetup, untilTrue } from './sync-setup.ts';

const concurrency = 16; // a worker's default
const columns = ['', 'per second', 'first after ms', 'all after ms', 'limit per second', 'product / limit'];

interface Round {
  perSecond: number;
  firstMs: number;
  allMs: number;
  limitPerSecond: number;
}

/** Measures how fast the backlog of a time without syncing reaches the store. */
export async function measureBacklog(
  setup: SyncSetup,
  { secrets, rounds, log }: BenchOptions,
): Promise<Report> {
  const kinds = { 'first push (CreateSecret)': [] as Round[], 'new version (PutSecretValue)': [] as Round[] };
  for (let round = 0; round < rounds; round += 1) {
    const names = Array.from({ length: secrets }, (_, at) => `round-${round}/app-${at}`);
    for (const [kind, measured] of Object.entries(kinds)) {
      const isFirst = kind.startsWith('first');
      const product = await pushAll(setup, names, isFirst);
      const limit = await limitOf(setup, names, isFirst ? 'create' : 'put');
      measured.push({ ...product, limitPerSecond: limit });
      log(
        `round ${round + 1} of ${rounds}, ${kind}: ${product.perSecond.toFixed(0)}/s, limit ${limit.toFixed(0)}/s`,
      );
    }
  }
  const rows = Object.entries(kinds).map(([kind, measured]) => rowOf(kind, measured));
  return { title: `Backlog of ${secrets} secrets for one store`, columns, rows, notes, measured: kinds };
}

const notes = [
  'the backlog was created while syncing was disabled; times are since it was enabled; per second: between the first and the last push',
  `one worker process, ${concurrency} entries at once; real Postgres and RabbitMQ, one process per service, simulated store`,
  `limit: the same call of the provider's client, ${concurrency} at once, from a separate process, against the same simulation`,
];

function rowOf(kind: string, rounds: Round[]): string[] {
  const of = (value: (round: Round) => number, digits = 0) => median(rounds.map(value)).toFixed(digits);
  return [
    kind,
    of(({ perSecond }) => perSecond),
    of(({ firstMs }) => firstMs),
    of(({ allMs }) => allMs),
    of(({ limitPerSecond }) => limitPerSecond),
    of(({ perSecond, limitPerSecond }) => perSecond / limitPerSecond, 2),
  ];
}

async function pushAll(
  setup: SyncSetup,
  names: string[],
  isFirst: boolean,
): Promise<Omit<Round, 'limitPerSecond'>> {
  const { api } = setup.product;
  await api('PATCH', 'sys/sync/config', { disabled: true });
  await forEach(names, concurrency, (name) => api('POST', `${mount}/data/${name}`, newValue()));
  if (isFirst)
    await forEach(names, concurrency, (name) =>
      api('POST', `${destination}/associations/set`, { mount, secret_name: name }),
    );
  const waiting = `select count(*) = ${names.length} from sync.entries where applied_generation < generation`;
  await untilTrue(setup, 'every entry is pending', waiting);
  const enabledAt = Date.now();
  await api('PATCH', 'sys/sync/config', { disabled: false });
  const synced =
    "select count(*) = 0 from sync.entries where applied_generation < generation or status <> 'SYNCED'";
  await untilTrue(setup, 'every entry is synced', synced);
  return figuresOf(setup, names.length, enabledAt);
}

/** Computes the figures from the entries' timestamps. The database uses this machine's clock. */
async function figuresOf({ database }: SyncSetup, count: number, enabledAt: number) {
  const { rows } = await database.query<{ first: Date; last: Date }>(
    `select min(synced_at) as first, max(synced_at) as last
     from (select synced_at from sync.entries order by synced_at desc limit ${count}) newest`,
  );
  const [first, last] = [rows[0]!.first.getTime(), rows[0]!.last.getTime()];
  return {
    perSecond: (count - 1) / ((last - first) / 1_000),
    firstMs: first - enabledAt,
    allMs: last - enabledAt,
  };
}

async function limitOf(
  { storeProcess, addresses }: SyncSetup,
  names: string[],
  operation: StoreJob['operation'],
) {
  const value = JSON.stringify(newValue().data);
  const limitNames = names.map((name) => `limit/${name}`);
  const { seconds } = await storeProcess.run({
    address: addresses.get('cloudA-sm')!,
    operation,
    names: limitNames,
    value,
    concurrency,
  });
  return names.length / seconds;
}

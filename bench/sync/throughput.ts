import { destinationTypes, findDescription } from '@secrets/destinations';
import { sandboxTypes } from '../../tests/harness/destination-types.ts';
import type { BenchOptions } from '../command-line.ts';
import type { StoreJob } from '../limits/store-loop.ts';
import { fieldsOf, type StoreAddress } from '../limits/stores/store-client.ts';
import { median } from '../load/statistics.ts';
import { figure, figureColumns, figureRow } from '../output/figure.ts';
import type { Report } from '../output/report.ts';
import { addFaultOf } from '../scheduling/store-faults.ts';
import { forEach } from '../system/api-client.ts';
import { newValue, type SyncSetup, untilTrue, withSyncSetup } from './sync-setup.ts';

const slots = 16; // a worker's default
/**
 * Response times of the store in milliseconds, with the target for each: the minimum share of the bare loop's
 * throughput.
 */
const latencies = [
  { ms: 50, minRatio: 0.95 },
  { ms: 0, minRatio: 0.7 },
];

interface Round {
  product: number;
  base: number;
}

interface Measured {
  type: string;
  ms: number;
  minRatio: number;
  rounds: Round[];
}

/** One destination type with its store, and the secrets that its destination pushes. */
interface Subject {
  setup: SyncSetup;
  address: StoreAddress;
  mount: string;
  names: string[];
  /** Entries for which the store is called at once. */
  concurrency: number;
}

/** Measures, for each destination type, how fast new values reach the store, compared with the provider's client in a loop. */
export function benchThroughput(options: BenchOptions): Promise<Report[]> {
  const { types = sandboxTypes.map(({ type }) => type) } = options;
  return withSyncSetup(options, { types }, async (setup) => {
    const measured: Measured[] = [];
    for (const type of types) {
      const subject = await prepare(setup, setup.addresses.get(type)!, options);
      for (const latency of latencies)
        measured.push({ type, ...latency, rounds: await measure(subject, latency.ms, options) });
    }
    return [reportOf(measured)];
  });
}

/** Associates secrets with a destination of the type, and creates as many in its store by the provider's client. */
async function prepare(
  setup: SyncSetup,
  address: StoreAddress,
  { secrets, log }: BenchOptions,
): Promise<Subject> {
  const { destinationType: type } = address;
  const mount = `bench-${type.toLowerCase()}`;
  const { api } = setup.product;
  const path = `sys/sync/destinations/${type}/throughput`;
  await api('POST', `sys/mounts/${mount}`, { type: 'kv', options: { version: '2' } });
  await api('POST', path, fieldsOf(address));
  const names = Array.from({ length: Math.min(secrets, maxSecrets(type)) }, (_, at) => `app${at}`);
  await forEach(names, slots, (name) => api('POST', `${mount}/data/${name}`, newValue()));
  await forEach(names, slots, (name) =>
    api('POST', `${path}/associations/set?wait=0`, { mount, secret_name: name }),
  );
  await untilTrue(setup, `every entry of ${type} is synced`, achieved(type));
  const concurrency = Math.min(slots, destinationTypes[type]!.budget.maxOutstanding ?? slots);
  const subject = { setup, address, mount, names, concurrency };
  await setup.storeProcess.run(jobOf(subject, 'create'));
  log(`${type}: ${names.length} secrets`);
  return subject;
}

/** Number of secrets that are pushed at most: the store permits no more, or they take long enough. */
function maxSecrets(type: string): number {
  const { maxEntries = 10_000 } = sandboxTypes.find((one) => one.type === type)!;
  if (destinationTypes[type]!.budget.maxOutstanding === 1) return Math.min(200, maxEntries);
  return type === 'cloudC-sm' ? 500 : maxEntries;
}

const achieved = (type: string) =>
  `select not exists (select from sync.entries where destination_type = '${type}' and (applied_generation < generation or status <> 'SYNCED'))`;

const jobOf = ({ address, names, concurrency }: Subject, operation: StoreJob['operation']): StoreJob => ({
  address,
  operation,
  names: names.map((name) => nameIn(address.destinationType, name)),
  value: JSON.stringify(newValue().data),
  concurrency,
});

/** Some stores permit no hyphens, or have upper-case names only. */
const nameIn = (type: string, name: string): string => {
  const wanted = `limit-${name}`;
  const isPermitted = findDescription(type).nameRule.check(wanted) === undefined;
  return isPermitted ? wanted : wanted.toUpperCase().replace('-', '_');
};

/** Pushes every secret by the product and by the loop, in turn. */
async function measure(subject: Subject, ms: number, { rounds: count, log }: BenchOptions): Promise<Round[]> {
  const { setup, address, names } = subject;
  const { destinationType: type } = address;
  const endFault =
    ms === 0 ? async () => {} : await addFaultOf(setup.sandbox, { store: type, effect: 'slow', ms });
  const rounds: Round[] = [];
  for (let round = 0; round < count; round += 1) {
    const product = await pushAll(subject);
    const { seconds } = await setup.storeProcess.run(jobOf(subject, 'put'));
    const base = names.length / seconds;
    rounds.push({ product, base });
    log(
      `${type}, ${ms} ms, round ${round + 1} of ${count}: ${product.toFixed(0)}/s, loop ${base.toFixed(0)}/s, ${(product / base).toFixed(2)}`,
    );
  }
  await endFault();
  return rounds;
}

/** Returns how many secrets per second were pushed, from a backlog of one new value of each. */
async function pushAll({ setup, mount, names, address }: Subject): Promise<number> {
  const { api } = setup.product;
  const { destinationType: type } = address;
  await api('PATCH', 'sys/sync/config', { disabled: true });
  await forEach(names, slots, (name) => api('POST', `${mount}/data/${name}`, newValue()));
  const pending = `select count(*) = ${names.length} from sync.entries where destination_type = '${type}' and applied_generation < generation`;
  await untilTrue(setup, `every entry of ${type} is pending`, pending);
  await api('PATCH', 'sys/sync/config', { disabled: false });
  await untilTrue(setup, `every entry of ${type} is synced`, achieved(type));
  const { rows } = await setup.database.query<{ seconds: number }>(
    `select extract(epoch from max(synced_at) - min(synced_at))::float8 as seconds from sync.entries where destination_type = $1`,
    [type],
  );
  return (names.length - 1) / rows[0]!.seconds;
}

function reportOf(measured: Measured[]): Report {
  const figures = measured.map(({ type, ms, minRatio, rounds }) =>
    figure({
      name: `${type}, ${ms} ms`,
      measured: median(rounds.map(({ product }) => product)),
      unit: 'secrets/s',
      peer: { name: 'the loop', measured: median(rounds.map(({ base }) => base)) },
      ratio: median(rounds.map(({ product, base }) => product / base)),
      target: { of: 'ratio', atLeast: minRatio },
    }),
  );
  return {
    title: 'New values per second of one destination, by type and latency of its store',
    columns: figureColumns,
    rows: figures.map((each) => figureRow(each)),
    notes: [
      'new values: one worker process of each type, without a budget; between the first and the last push of a backlog that was created while syncing was disabled',
      `the loop: the same calls of the provider's client, from a separate process; ${slots} values at once, and one at a time for codehost and webhost-project`,
      'calls for a value, one after the other: 4 for cloudC-sm, 3 for codehost (two of its four are made side by side), 1 for webhost-project, 2 for the others',
    ],
    measured,
    figures,
  };
}

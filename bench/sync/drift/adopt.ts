import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '@secrets/testing';
import type { BenchOptions } from '../../command-line.ts';
import { openStore } from '../../limits/stores/open-store.ts';
import { type Figure, figure, figureColumns, figureRow } from '../../output/figure.ts';
import type { Report } from '../../output/report.ts';
import { addFault, countCalls } from '../../scheduling/store-faults.ts';
import { forEach } from '../../system/api-client.ts';
import { type SyncSetup, withSyncSetup } from '../sync-setup.ts';

const mount = 'bench-adopt';
const path = 'sys/sync/destinations/cloudA-sm/adopt';
const prefix = 'adopted-';
/** External secrets of one page of an import. */
const pageSize = 50;
/** Long enough for a page to be in progress when a process is killed. */
const callMs = 10;
/** The processes that are killed, one after the other, when so much of the import is done. */
const killed = { 'sync-control': 1 / 3, 'sync-worker-clouda-sm': 2 / 3 };

interface Progress {
  state: string;
  error: string | null;
  counts: Record<string, number>;
}

interface Adopted {
  secrets: number;
  looks: number;
  writes: number;
  seconds: { imported: number; takenOver: number };
}

/** Imports existing secrets while processes are killed, and then takes them over, whose values are equal. */
export function benchAdopt(options: BenchOptions): Promise<Report[]> {
  return withSyncSetup(options, {}, async (setup) => {
    await createUnowned(setup, options);
    return [reportOf(await adopt(setup, options))];
  });
}

async function createUnowned(
  { addresses, product, fields }: SyncSetup,
  { secrets, log }: BenchOptions,
): Promise<void> {
  const store = await openStore(addresses.get('cloudA-sm')!);
  const all = Array.from({ length: secrets }, (_, index) => index);
  await forEach(all, 16, (index) =>
    store.create(`${prefix}${index}`, JSON.stringify({ password: `p-${index}` })),
  );
  await product.api('POST', `sys/mounts/${mount}`, { type: 'kv', options: { version: '2' } });
  const naming = { secret_name_template: `${prefix}{{ .SecretPath }}`, conflict_policy: 'overwrite' };
  await product.api('POST', path, { ...fields, ...naming });
  log(`${secrets} external secrets without an owner`);
}

async function adopt(setup: SyncSetup, { secrets, log }: BenchOptions): Promise<Adopted> {
  const writes = await countCalls(setup.sandbox, { operation: 'PutSecretValue' });
  const looks = await countCalls(setup.sandbox, { operation: 'GetSecretValue' });
  const endFault = await addFault(setup.sandbox, { effect: 'slow', ms: callMs, operation: 'GetSecretValue' });
  const beganAt = performance.now();
  await start(setup, false);
  for (const [service, share] of Object.entries(killed)) {
    await untilImported(setup, secrets * share);
    const before = await looks();
    while ((await looks()) < before + pageSize / 2) await sleep(5); // in the middle of a page
    log(`killing ${service} after ${await looks()} looks`);
    await setup.product.programs.find((one) => one.service === service)!.program.restart('SIGKILL');
  }
  await untilImported(setup, secrets, 'done');
  await endFault();
  const importedAt = performance.now();
  const looked = await looks();
  log(`imported with ${looked} looks`);
  await start(setup, true);
  await untilTakenOver(setup, secrets);
  const takenOverAt = performance.now();
  const seconds = { imported: (importedAt - beganAt) / 1_000, takenOver: (takenOverAt - importedAt) / 1_000 };
  return { secrets, looks: looked, writes: await writes(), seconds };
}

const start = ({ product }: SyncSetup, associate: boolean): Promise<unknown> =>
  product.api('POST', `${path}/import`, {
    mount,
    match: `${prefix}*`,
    path: `{{ .ExternalName | trimprefix "${prefix}" }}`,
    dry_run: false,
    associate,
  });

/** Waits until so many secrets have their line; a process that was killed may be missing meanwhile. */
async function untilImported({ product }: SyncSetup, count: number, state?: string): Promise<void> {
  for (;;) {
    const answer = await product.api('GET', `${path}/import?limit=1`).catch(() => undefined);
    const progress = (answer as { data: Progress } | undefined)?.data;
    const done = (progress?.counts.new ?? 0) + (progress?.counts.same_value ?? 0);
    if (progress !== undefined && progress.state !== 'running' && done < count)
      throw new Error(`the import is ${progress.state}: ${progress.error}`);
    if (done >= count && (state === undefined || progress?.state === state)) return;
    await sleep(50);
  }
}

const untilTakenOver = ({ database }: SyncSetup, secrets: number): Promise<void> =>
  eventually(
    async () => {
      const { rows } = await database.query<{ count: number }>(
        `select count(*)::int as count from sync.entries where status = 'SYNCED'`,
      );
      if (rows[0]!.count < secrets) throw new Error(`only ${rows[0]!.count} were taken over in time`);
    },
    { timeoutMs: 3_600_000, intervalMs: 200 },
  );

function reportOf({ secrets, looks, writes, seconds }: Adopted): Report {
  const kills = Object.keys(killed).length;
  const figures: Figure[] = [
    figure({
      name: 'writes of values',
      measured: writes,
      unit: 'calls',
      target: { of: 'measured', atMost: 0 },
    }),
    figure({
      name: 'looks that were repeated',
      measured: looks - secrets,
      unit: 'calls',
      target: { of: 'measured', atMost: kills * pageSize },
    }),
    figure({ name: 'import', measured: seconds.imported, unit: 's' }),
    figure({ name: 'takeover', measured: seconds.takenOver, unit: 's' }),
  ];
  return {
    title: `Adoption of ${secrets} existing secrets with equal values`,
    columns: [...figureColumns],
    rows: figures.map((each) => figureRow(each, each.unit === 's' ? 1 : 0)),
    notes: [
      `adoption: during the import, ${Object.keys(killed).join(' and ')} are killed with SIGKILL, one after the other, and started again; each may repeat a page of ${pageSize} looks`,
      `adoption: values are imported first, and taken over by a second import, which compares them again; a look takes ${callMs} ms longer during the first one; no budget, one worker process with 16 slots`,
    ],
    measured: { looks, writes, seconds },
    figures,
  };
}

import { openRabbit } from '../../../libs/broker/src/index.ts';
import { openPostgres } from '../../../libs/db/src/index.ts';
import { secretChangesQueue, syncQueue } from '../../../libs/domain/src/index.ts';
import { silentLogger } from '../../../libs/telemetry/src/index.ts';
import { sandboxTypes } from '../../harness/destination-types.ts';
import { client } from '../../harness/http.ts';
import type { ListedAssociation, Observed } from '../check/settled.ts';
import { ruledValue } from '../load/rules/ruled.ts';
import {
  destinationsOf,
  isForeign,
  keysOf,
  type LoadedDestination,
  mount,
  type World,
} from '../load/world.ts';
import type { Stage } from '../stage/stage.ts';
import { observeRules } from './observe-rules.ts';

const queues = [secretChangesQueue, ...sandboxTypes.map(({ type }) => syncQueue(type))];

/** Looks at everything once. Throws if something does not respond. */
export async function observe(stage: Stage, world: World): Promise<Observed> {
  const api = client(world.gateways[0]!.url, world.rootToken);
  const listed = await Promise.all(destinationsOf(world).map((one) => listDestination(api, one)));
  const values = keysOf(world).map(async (key): Promise<[string, string]> => {
    const { body } = await api('GET', `${mount}/data/${key}`);
    return [key, JSON.stringify(body.data.data)];
  });
  const held = sandboxTypes.map(async ({ type }): Promise<[string, Map<string, string>]> => {
    const contents = Object.entries(await world.sandbox.contents(type)).filter(([name]) => !isForeign(name));
    return [type, new Map(contents.map(([name, value]) => [name.toLowerCase(), value]))];
  });
  const ruled = world.ruled.length === 0 ? null : await observeRules(stage.system.postgres.url);
  const ruledValues = [...(ruled?.secrets.keys() ?? [])].map((key): [string, string] => [
    key,
    JSON.stringify({ value: ruledValue(world.canary, key) }),
  ]);
  return {
    associations: listed.flatMap(({ associations }) => associations),
    work: listed.flatMap(({ work }) => work),
    ruled,
    values: new Map([...(await Promise.all(values)), ...ruledValues]),
    held: new Map(await Promise.all(held)),
    unfinished: await unfinishedRows(stage.system.postgres.url),
    queued: await queuedMessages(stage.system.rabbit.url),
  };
}

type Request = ReturnType<typeof client>;

async function listDestination(
  api: Request,
  { id, type, path }: LoadedDestination,
): Promise<{ associations: ListedAssociation[]; work: string[] }> {
  const { status, body } = await api('GET', path);
  if (status === 404) return { associations: [], work: [] };
  const answer = await api('GET', `${path}/associations`);
  const work = Object.keys(body.data).filter((field) =>
    /^(purge|retry|push|replan)_initiated_at$/.test(field),
  );
  const objects = Object.values<Record<string, string>>(answer.body.data?.associated_secrets ?? {});
  return {
    work: work.map((field) => `${id}: ${field}`),
    associations: objects.map(({ secret_name, external_name, sync_status, last_error }) => ({
      destination: id,
      store: type,
      key: secret_name!,
      externalName: external_name!,
      status: sync_status === 'SYNCED' ? sync_status : `${sync_status}${last_error ? `: ${last_error}` : ''}`,
    })),
  };
}

async function unfinishedRows(url: string): Promise<Record<string, number>> {
  const db = openPostgres({ url, connections: 1 });
  try {
    const [row] = await db.query<Record<string, number>>(
      `select (select count(*) from sync.entries where applied_generation < generation or lease_owner is not null) as "sync.entries",
              (select count(*) from secrets.outbox) as "secrets.outbox"`,
    );
    return row!;
  } finally {
    await db.close();
  }
}

async function queuedMessages(url: string): Promise<Record<string, number>> {
  const broker = openRabbit({ url, log: silentLogger() });
  try {
    const depths = queues.map(async (queue) => [
      [queue, (await broker.depth(queue)).ready] as const,
      [`${queue} (dead letters)`, await broker.deadLetterDepth(queue)] as const,
    ]);
    return Object.fromEntries((await Promise.all(depths)).flat());
  } finally {
    await broker.close();
  }
}

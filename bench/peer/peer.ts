import { setTimeout as sleep } from 'node:timers/promises';
import { install } from '../../tests/clients/install/install.ts';
import type { BenchOptions } from '../command-line.ts';
import { alternate, type Load, type Runs, type Side } from '../load/alternate.ts';
import { memoryOf, treeOf } from '../load/process-tree.ts';
import type { Report } from '../output/report.ts';
import { forEach } from '../system/api-client.ts';
import { jwtLogins, reportOfPeers, reportOfStandalone, type StandaloneMemory } from './peer-report.ts';
import { jwtLoginPath, mount, type PeerSide, role, type Sides, startSides } from './sides.ts';

const secrets = 1_000;
const restSeconds = 10;

/** Compares the product, as separate services and in one process, with OpenBao. */
export async function benchPeers(options: BenchOptions): Promise<Report[]> {
  const reason = await install('openbao').catch((error: unknown) => String(error).split('\n')[0]);
  if (reason !== undefined) options.log(`without OpenBao, because it could not be installed: ${reason}`);
  const running = await startSides(options, reason === undefined);
  try {
    const atRest = await afterRest(running);
    const measured = await measure(running, options);
    const missing = reason === undefined ? [] : [`OpenBao could not be installed: ${reason}`];
    return [
      reportOfPeers(running.sides, measured.runs, missing),
      reportOfStandalone({
        atRest,
        underLoad: measured.underLoad,
        ready: running.standalone.ready,
        readyWithoutNpm: running.readyWithoutNpm,
      }),
    ];
  } finally {
    await running.stop();
  }
}

/** The memory of `npm start`, and of the service in it. */
function memoryOfStandalone({ standalone: { pid } }: Sides): StandaloneMemory {
  const tree = treeOf(pid);
  return { ...memoryOf(tree), withoutNpm: memoryOf(tree.filter((each) => each !== pid)).resident };
}

async function afterRest(running: Sides): Promise<StandaloneMemory> {
  await sleep(restSeconds * 1_000);
  return memoryOfStandalone(running);
}

/** Measures all loads on all sides, and the most memory that the standalone service uses meanwhile. */
async function measure(running: Sides, options: BenchOptions) {
  const { sides } = running;
  for (const side of sides) await writeAll(side);
  const samples: StandaloneMemory[] = [];
  const sampling = setInterval(() => samples.push(memoryOfStandalone(running)), 1_000);
  const runs = new Map<string, Runs>();
  try {
    for (const kind of loadsOf(running)) runs.set(kind.name, await alternate(sides, kind, options));
  } finally {
    clearInterval(sampling);
  }
  const most = (of: keyof StandaloneMemory) => Math.max(...samples.map((sample) => sample[of]));
  const underLoad = {
    resident: most('resident'),
    proportional: most('proportional'),
    withoutNpm: most('withoutNpm'),
  };
  return { runs, underLoad };
}

const paths = Array.from({ length: secrets }, (_, at) => `/v1/${mount}/data/app/s${at}`);
const bodies = Array.from({ length: 1_000 }, (_, at) =>
  JSON.stringify({ data: { user: 'u', password: `p${at}` } }),
);

/** The requests of each load; every side gets its own paths and headers. */
function loadsOf({ sides, jwts }: Sides): Load[] {
  const own = ({ name }: Side): PeerSide => sides.find((side) => side.name === name)!;
  const json = { 'content-type': 'application/json' };
  const logins = jwts.map((jwt) => JSON.stringify({ role, jwt }));
  return [
    {
      name: 'login',
      job: (side) => ({ method: 'POST', headers: json, paths: [own(side).loginPath], bodies: logins }),
    },
    {
      name: jwtLogins,
      job: { method: 'POST', headers: json, paths: [`/v1/${jwtLoginPath}`], bodies: logins },
    },
    {
      name: 'write',
      job: (side) => ({ method: 'POST', headers: { ...json, ...own(side).headers }, paths, bodies }),
    },
    { name: 'read', job: (side) => ({ method: 'GET', headers: own(side).headers, paths, bodies: [] }) },
  ];
}

/** Writes every secret once, so that all reads find one. */
const writeAll = ({ api }: PeerSide): Promise<void> =>
  forEach(paths, 16, (path) => api('POST', path.replace('/v1/', ''), { data: { user: 'u', password: 'p' } }));

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { atExit } from '../../../scripts/test-services/at-exit.ts';
import { sandboxTypes } from '../../harness/destination-types.ts';
import { type Distributed, ownServers, startDistributed } from '../../harness/distributed.ts';
import { recordLeases } from '../observer/lease-log.ts';
import type { Targets } from '../schedule/draw-schedule.ts';
import { Links } from './links.ts';
import { type SmallDisk, smallDisk } from './small-disk.ts';

/**
 * Interval of the tasks that repair lost messages and events, in seconds: longer than a run, so that the system can
 * settle only by the mechanisms on which the guarantees rest.
 */
const repairSeconds = 3_600;
const callsPerSecond = 40;

/** A distributed system whose processes, connections, clocks and disks can be disturbed. */
export interface Stage {
  system: Distributed;
  links: Links;
  /** Of the gateways, by the name of the process. */
  disks: ReadonlyMap<string, SmallDisk>;
  /** The file that shifts the clock of each process. */
  clockFile(process: string): string;
  targets: Targets;
  stop(): Promise<void>;
}

const env = {
  CONSOLE: 'false',
  // What rules release is never confirmed here.
  REMOVAL_BRAKE_PERCENT: '100',
  BUDGETS: sandboxTypes.map(({ type }) => `${type}=${callsPerSecond}`).join(','),
};
const noRepairs = { LOST_AFTER_SECONDS: String(repairSeconds), RECONCILE_SECONDS: String(repairSeconds) };

/** This machine has no PostgreSQL or RabbitMQ; the message says why. */
export class MissingServer extends Error {}

const preload = fileURLToPath(new URL('./skewed-clock.ts', import.meta.url));

interface StageOptions {
  withStandby?: 'asynchronous';
  /** The folder whose services are run; default: this repository. */
  sourceRoot?: string | undefined;
  /** Whether lost messages are found as soon as usual. */
  repairsLosses?: boolean;
}

/**
 * Starts the stack: all five types with two workers or more, and each other service twice.
 * @throws MissingServer
 */
export async function startStage({
  sourceRoot,
  repairsLosses = false,
  withStandby,
}: StageOptions = {}): Promise<Stage> {
  const servers = await ownServers({ withStandby });
  if (typeof servers === 'string') throw new MissingServer(servers);
  const folder = mkdtempSync(join(tmpdir(), 'fire-'));
  const links = new Links();
  const disks = new Map<string, SmallDisk>();
  const clockFile = (process: string) => join(folder, `${process}.clock`);
  const route = async (name: string, given: Record<string, string>) => {
    const routed = await links.route(name, given);
    if (name === 'sandbox') return routed;
    const clock = { NODE_OPTIONS: `--import=${preload}`, CLOCK_FILE: clockFile(name) };
    const { AUDIT_FILE: audit } = routed;
    if (audit === undefined) return { ...routed, ...clock };
    const disk = smallDisk(join(folder, `disk-of-${name}`), basename(audit));
    disks.set(name, disk);
    return { ...routed, ...clock, AUDIT_FILE: join(disk.folder, basename(audit)) };
  };
  const release = async () => {
    await links.end();
    for (const disk of disks.values()) disk.end();
    rmSync(folder, { recursive: true, force: true });
  };
  const options = {
    env: repairsLosses ? env : { ...env, ...noRepairs },
    route,
    everyType: true,
    inPairs: true,
  };
  const system = await startDistributed(servers, {
    ...options,
    ...(sourceRoot === undefined ? {} : { sourceRoot }),
  }).catch(async (error: unknown) => {
    await release();
    throw error;
  });
  const forget = killAtExit(system);
  await recordLeases(system.postgres.url);
  const stores = sandboxTypes.map(({ type }) => type);
  return {
    ...{ system, links, disks, clockFile },
    targets: { upstreams: links.upstreams, gateways: [...disks.keys()], stores },
    stop: async () => {
      await system.stop();
      forget();
      await release();
    },
  };
}

/** Otherwise, the services would outlive a run that a signal ends. */
const killAtExit = ({ processes }: Distributed): (() => void) =>
  atExit(() => {
    for (const { pid } of Object.values(processes)) if (pid !== undefined) process.kill(pid, 'SIGKILL');
  });

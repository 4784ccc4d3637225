// Disturbs the distributed system under load, and checks the history of what it did against what was observed.
//
//   npm run chaos -- --help
import { appendFileSync } from 'node:fs';
import { type Bug, bugs } from './bugs/bugs.ts';
import { sourceWithBug } from './bugs/source-with-bug.ts';
import type { FireReport } from './campaigns/campaign.ts';
import { jumpUnderFire } from './campaigns/clock.ts';
import { failOverUnderFire } from './campaigns/failover.ts';
import { loseRegion } from './campaigns/region/region.ts';
import { restoreUnderFire } from './campaigns/restore.ts';
import { runUnderFire } from './campaigns/run.ts';
import { upgradeUnderFire } from './campaigns/upgrade.ts';
import { type CommandLine, parseCommandLine, usage } from './command-line.ts';
import { printReport } from './report.ts';

const campaigns = {
  run: runUnderFire,
  restore: restoreUnderFire,
  failover: failOverUnderFire,
  region: loseRegion,
  clock: jumpUnderFire,
};

const log = (line: string): void => console.log(line);

/** Prints what a run found. Returns whether the guarantees were kept. */
function finish({ json, command }: CommandLine, report: FireReport, bug?: Bug): boolean {
  printReport(report, log);
  const line = { command, bug: bug?.name, at: new Date().toISOString(), ...report };
  if (json !== undefined) appendFileSync(json, `${JSON.stringify(line)}\n`);
  return report.foundAfterMs === null;
}

async function runWithBug(
  commandLine: CommandLine,
  bug: Bug,
  command: keyof typeof campaigns = bug.foundBy ?? 'run',
): Promise<boolean> {
  const source = sourceWithBug(bug);
  try {
    log(`bug ${bug.name}: ${bug.about}`);
    const options = { ...commandLine.options, sourceRoot: source.folder, log };
    return finish(commandLine, await campaigns[command](options), bug);
  } finally {
    source.remove();
  }
}

/** The least that a failover needs: it loses commits only once, so many short runs find more than a long one. */
const faultsPerFailover = 12;

/** Returns the options of the runs that together cause the wanted faults. */
function runsFor({ foundBy }: Bug, options: CommandLine['options']): CommandLine['options'][] {
  if (foundBy !== 'failover') return [options];
  const count = Math.ceil(options.faults / faultsPerFailover);
  const seeds = Array.from({ length: count }, (_, index) => options.seed + index);
  return seeds.map((seed) => ({ ...options, seed, faults: faultsPerFailover }));
}

async function isFound(commandLine: CommandLine, bug: Bug): Promise<boolean> {
  for (const options of runsFor(bug, commandLine.options))
    if (!(await runWithBug({ ...commandLine, options }, bug))) return true;
  return false;
}

/** Runs each deliberate bug, or only the chosen one. Returns whether all were found. */
async function findBugs(commandLine: CommandLine): Promise<boolean> {
  const missed: string[] = [];
  const wanted = commandLine.bug === undefined ? bugs : [commandLine.bug];
  for (const bug of wanted) if (!(await isFound(commandLine, bug))) missed.push(bug.name);
  log(missed.length === 0 ? `found all of ${wanted.length}` : `missed: ${missed.join(', ')}`);
  return missed.length === 0;
}

async function upgrade(commandLine: CommandLine): Promise<boolean> {
  const report = await upgradeUnderFire(commandLine.from, { ...commandLine.options, log });
  if (typeof report !== 'string') return finish(commandLine, report);
  log(`not run: ${report}`);
  return false;
}

async function perform(commandLine: CommandLine): Promise<boolean> {
  const { command, options, bug } = commandLine;
  if (command === 'bugs') return findBugs(commandLine);
  if (command === 'upgrade') return upgrade(commandLine);
  if (bug !== undefined) return runWithBug(commandLine, bug, command);
  return finish(commandLine, await campaigns[command]({ ...options, log }));
}

// The servers, services and file systems that were started end with this process.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

const commandLine = parseCommandLine(process.argv.slice(2));
if (commandLine.help) log(usage);
else process.exitCode = (await perform(commandLine)) ? 0 : 1;

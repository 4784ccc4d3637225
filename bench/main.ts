// Prints figures of the product, next to what the same machine reaches in the same run without it.
//
//   npm run bench -- --help
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type BenchOptions, type CommandLine, parseCommandLine, usage } from './command-line.ts';
import { benchKv } from './kv.ts';
import { benchLogin } from './login.ts';
import { asMarkdown, asText, describeMachine, type Report, writeFigures } from './report.ts';
import { benchAccountBudget } from './scheduling/account-budget.ts';
import { benchAdmission } from './scheduling/admission.ts';
import { benchBacklog } from './scheduling/backlog.ts';
import { benchDrain, benchDrainWithinBudget } from './scheduling/drain.ts';
import { benchFairness } from './scheduling/fairness.ts';
import { benchStandalone } from './scheduling/standalone.ts';
import { benchSync } from './sync/bench-sync.ts';
import { benchThroughput } from './sync/throughput.ts';
import { type BenchServers, startServers } from './system/servers.ts';
import { benchTenants } from './tenants/tenants.ts';

type Measure = (options: BenchOptions) => Promise<Report[]>;

/** Each part of a benchmark has an empty database. */
const reporting: Record<string, { about: string; parts: Measure[] }> = {
  kv: { about: 'reads and writes of secrets through gateway and secrets', parts: [benchKv] },
  tenants: {
    about: 'what the tokens and policies of one tenant cost another one',
    parts: [benchTenants],
  },
  login: { about: 'logins with a JWT through gateway and login', parts: [benchLogin] },
  sync: { about: 'synchronization of secrets with an external store', parts: [benchThroughput, benchSync] },
  fairness: {
    about: 'what a destination costs the others: admission, delays, budgets',
    parts: [benchAdmission, benchFairness, benchAccountBudget],
  },
  backlog: {
    about: 'what a long queue costs, and how fast it drains',
    parts: [benchBacklog, benchDrain, benchDrainWithinBudget],
  },
  standalone: {
    about: 'delay of a write in one process, next to a destination in trouble',
    parts: [benchStandalone],
  },
};
/** Prints its own figures, and needs no servers. */
const listVerb = 'list-verb';
const benchmarks = {
  ...Object.fromEntries(Object.entries(reporting).map(([name, { about }]) => [name, about])),
  [listVerb]: 'the cost of accepting the method LIST',
};

const log = (line: string): void => console.log(line);

async function main(commandLine: CommandLine): Promise<void> {
  const { help, names } = commandLine;
  if (help) return log(usage(benchmarks));
  const unknown = names.filter((name) => !(name in benchmarks));
  if (unknown.length > 0) throw new Error(`unknown benchmark: ${unknown.join(', ')}\n\n${usage(benchmarks)}`);
  if (names.length === 0) log(`${usage(benchmarks)}\n`);
  const selected = Object.keys(benchmarks).filter((name) => names.length === 0 || names.includes(name));
  const withReport = selected.filter((name) => name !== listVerb);
  if (withReport.length > 0) await runAll(withReport, commandLine);
  if (selected.includes(listVerb)) await runListVerb();
}

async function runAll(names: string[], { options, json, markdown }: CommandLine): Promise<void> {
  const servers = await startServers(log);
  try {
    const machine = describeMachine(servers.versions);
    log(machine.join('\n'));
    const reports: Report[] = [];
    for (const name of names) {
      log(`\n${name}: ${reporting[name]!.about}`);
      for (const part of reporting[name]!.parts) reports.push(...(await runPart(part, options, servers)));
    }
    log(`\n${asText(machine, reports)}`);
    if (json !== undefined) writeFileSync(json, `${JSON.stringify({ machine, reports }, null, 2)}\n`);
    if (markdown !== undefined) writeFigures(markdown, asMarkdown(machine, reports));
  } finally {
    await servers.stop();
  }
}

/** Runs one part of a benchmark. A failure is printed and does not prevent the report of the others. */
async function runPart(
  part: Measure,
  options: CommandLine['options'],
  servers: BenchServers,
): Promise<Report[]> {
  const database = await servers.createDatabase();
  try {
    const urls = { databaseUrl: database.url, amqpUrl: servers.amqpUrl };
    return await part({ ...options, log, servers: urls });
  } catch (error) {
    console.error(error);
    process.exitCode = 1;
    return [];
  } finally {
    await database.drop();
  }
}

async function runListVerb(): Promise<void> {
  log(`\n${listVerb}: ${benchmarks[listVerb]}`);
  const program = new URL('./list-verb.ts', import.meta.url).pathname;
  await once(spawn(process.execPath, [program], { stdio: 'inherit' }), 'exit');
}

try {
  await main(parseCommandLine(process.argv.slice(2)));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}

// Prints figures of the product, next to what the same machine reaches in the same run without it.
//
//   npm run bench -- --help
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type BenchOptions, type CommandLine, parseCommandLine, usage } from './command-line.ts';
import { benchIdle } from './flat/idle.ts';
import { benchLists } from './flat/lists.ts';
import { benchRevocation } from './flat/revocation.ts';
import { measureStolenTime } from './load/stolen-time.ts';
import { abouts, type BenchmarkName } from './output/abouts.ts';
import { describeMachine, type Report, tableText } from './output/report.ts';
import type { Result } from './output/results.ts';
import { writeDocs, writeResults } from './output/write-results.ts';
import { benchPeers } from './peer/peer.ts';
import { benchKv } from './requests/kv.ts';
import { benchLogin } from './requests/login.ts';
import { benchAccountBudget } from './scheduling/account-budget.ts';
import { benchAdmission } from './scheduling/admission.ts';
import { benchBacklog } from './scheduling/backlog/backlog.ts';
import { benchDrain, benchDrainWithinBudget } from './scheduling/drain.ts';
import { benchFairness } from './scheduling/fairness.ts';
import { benchStandalone } from './scheduling/standalone.ts';
import { benchDelay } from './sync/delay.ts';
import { benchAdopt } from './sync/drift/adopt.ts';
import { benchLooks } from './sync/drift/looks.ts';
import { benchNextToLooks } from './sync/drift/next-to-looks.ts';
import { benchNotice } from './sync/drift/notice.ts';
import { benchBesideRules } from './sync/rules/beside-rules.ts';
import { benchExistingSecrets } from './sync/rules/existing-secrets.ts';
import { benchFirstWrites } from './sync/rules/first-writes.ts';
import { benchNextToRules } from './sync/rules/next-to-rules.ts';
import { benchThroughput } from './sync/throughput.ts';
import { type BenchDatabase, type BenchServers, startServers } from './system/servers.ts';
import { benchHostile } from './tenants/hostile.ts';
import { benchTenants } from './tenants/tenants.ts';

type Measure = (options: BenchOptions) => Promise<Report[]>;

/** Each part of a benchmark has an empty database. */
const parts: Record<BenchmarkName, Measure[]> = {
  peer: [benchPeers],
  kv: [benchKv],
  lists: [benchLists],
  idle: [benchIdle],
  revocation: [benchRevocation],
  tenants: [benchTenants],
  hostile: [benchHostile],
  login: [benchLogin],
  sync: [benchThroughput, benchDelay],
  drift: [benchLooks, benchNotice, benchNextToLooks, benchAdopt],
  rules: [benchFirstWrites, benchBesideRules, benchExistingSecrets, benchNextToRules],
  fairness: [benchAdmission, benchFairness, benchAccountBudget],
  backlog: [benchBacklog, benchDrain, benchDrainWithinBudget],
  standalone: [benchStandalone],
};
const reporting = Object.keys(abouts) as BenchmarkName[];
/** Prints its own figures, and needs no servers. */
const listVerb = 'list-verb';
const benchmarks = {
  ...abouts,
  [listVerb]: 'the cost of accepting the method LIST',
};

const log = (line: string): void => console.log(line);

async function main(commandLine: CommandLine): Promise<void> {
  const { help, names } = commandLine;
  if (help) return log(usage(benchmarks));
  const unknown = names.filter((name) => !(name in benchmarks));
  if (unknown.length > 0) throw new Error(`unknown benchmark: ${unknown.join(', ')}\n\n${usage(benchmarks)}`);
  if (names.length === 0) log(`${usage(benchmarks)}\n`);
  const isSelected = (name: string) => names.length === 0 || names.includes(name);
  const withReport = reporting.filter(isSelected);
  if (withReport.length > 0) await runAll(withReport, commandLine);
  if (isSelected(listVerb)) await runListVerb();
}

async function runAll(names: BenchmarkName[], commandLine: CommandLine): Promise<void> {
  const servers = await startServers(log);
  try {
    const setting = describeMachine(servers.versions);
    log(Object.values(setting).join('\n'));
    const results: Result[] = [];
    const details: Record<string, unknown> = {};
    for (const name of names)
      for (const { measured, figures = [], ...report } of await runBenchmark(name, commandLine, servers)) {
        results.push({ benchmark: name, ...setting, ...report, figures });
        details[report.title] = measured;
      }
    log(`\n${results.map(tableText).join('\n\n')}`);
    await writeResults(commandLine.out, results, details);
    log(`\nJSON and charts are in ${commandLine.out}`);
    if (commandLine.docs) await writeDocs(results);
  } finally {
    await servers.stop();
  }
}

async function runBenchmark(
  name: BenchmarkName,
  { options }: CommandLine,
  servers: BenchServers,
): Promise<Report[]> {
  log(`\n${name}: ${abouts[name]}`);
  const began = performance.now();
  const reports: Report[] = [];
  for (const part of parts[name]) reports.push(...(await runPart(part, options, servers)));
  log(`${name} took ${((performance.now() - began) / 1_000).toFixed(0)} s`);
  return reports;
}

/** Runs one part of a benchmark. A failure is printed and does not prevent the report of the others. */
async function runPart(
  part: Measure,
  options: CommandLine['options'],
  servers: BenchServers,
): Promise<Report[]> {
  const databases: BenchDatabase[] = [];
  const createDatabase = async () => {
    const database = await servers.createDatabase();
    databases.push(database);
    return database.url;
  };
  try {
    const { amqpUrl, postgresPid } = servers;
    const own = { databaseUrl: await createDatabase(), amqpUrl, postgresPid, createDatabase };
    const stolenTime = measureStolenTime();
    const reports = await part({ ...options, log, servers: own });
    const stolen = stolenTime() ?? [];
    return reports.map((report) => ({ ...report, notes: report.notes.concat(stolen) }));
  } catch (error) {
    console.error(error);
    process.exitCode = 1;
    return [];
  } finally {
    for (const database of databases) await database.drop();
  }
}

async function runListVerb(): Promise<void> {
  log(`\n${listVerb}: ${benchmarks[listVerb]}`);
  const program = new URL('./requests/list-verb.ts', import.meta.url).pathname;
  await once(spawn(process.execPath, [program], { stdio: 'inherit' }), 'exit');
}

try {
  await main(parseCommandLine(process.argv.slice(2)));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}

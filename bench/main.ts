// Prints figures of the product, and beside them what the same machine reached in the same run without it.
//
//   npm run bench                          lists the programs and runs all of them
//   npm run bench -- kv                    one of them
//   --seconds S --rounds N                 how long each measurement takes, and how often it is repeated
//   --secrets N                            how many secrets `sync` pushes
//   --json FILE                            the figures for programs
//   --markdown FILE                        the tables, between the marks `figures` of a page that has them
//   --cpu-prof FOLDER                      CPU profiles of every process but the load generator
//
// Postgres and RabbitMQ: those of BENCH_DATABASE_URL and BENCH_AMQP_URL, else started for the run with durable
// settings, in Docker or from what is installed.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { BenchOptions } from './bench-options.ts';
import { benchKv } from './kv.ts';
import { benchLogin } from './login.ts';
import { describeMachine } from './machine.ts';
import { asMarkdown, asText, type Report } from './report.ts';
import { type BenchServers, startServers } from './servers.ts';
import { benchSync } from './sync.ts';
import { writeFigures } from './write-figures.ts';

const measured: Record<string, { about: string; run: (options: BenchOptions) => Promise<Report[]> }> = {
  kv: { about: 'reads and writes of secrets through gateway and secrets', run: benchKv },
  login: { about: 'logins with a JWT through gateway and login', run: benchLogin },
  sync: { about: 'secrets on their way to an external store', run: benchSync },
};
const listVerb = 'list-verb';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string', default: '8' },
    rounds: { type: 'string', default: '3' },
    secrets: { type: 'string', default: '1000' },
    json: { type: 'string' },
    markdown: { type: 'string' },
    'cpu-prof': { type: 'string' },
  },
});

const log = (line: string): void => console.log(line);
const chosen = positionals.length > 0 ? positionals : [...Object.keys(measured), listVerb];
const unknown = chosen.filter((name) => name !== listVerb && measured[name] === undefined);
if (unknown.length > 0) fail(`no such program: ${unknown.join(', ')}\n${list()}`);
if (positionals.length === 0) log(`${list()}\n`);

const programs = chosen.filter((name) => name !== listVerb);
if (programs.length > 0) await measure(programs);
if (chosen.includes(listVerb)) await runListVerb();

async function measure(names: string[]): Promise<void> {
  const servers = await startServers(log).catch((error: Error) => fail(error.message));
  try {
    const machine = describeMachine(servers.versions);
    log(machine.join('\n'));
    const reports: Report[] = [];
    for (const name of names) {
      log(`\n${name}: ${measured[name]!.about}`);
      reports.push(...(await measureOne(name, servers)));
    }
    log(`\n${asText(machine, reports)}`);
    if (values.json !== undefined)
      writeFileSync(values.json, `${JSON.stringify({ machine, reports }, null, 2)}\n`);
    if (values.markdown !== undefined) writeFigures(values.markdown, asMarkdown(machine, reports));
  } finally {
    await servers.stop();
  }
}

/** One that fails does not keep the others from being shown. */
async function measureOne(name: string, servers: BenchServers): Promise<Report[]> {
  const database = await servers.createDatabase();
  try {
    return await measured[name]!.run(optionsFor({ databaseUrl: database.url, amqpUrl: servers.amqpUrl }));
  } catch (error) {
    console.error(error);
    process.exitCode = 1;
    return [];
  } finally {
    await database.drop();
  }
}

function optionsFor(servers: BenchOptions['servers']): BenchOptions {
  const profiles = values['cpu-prof'];
  if (profiles !== undefined) mkdirSync(profiles, { recursive: true });
  return {
    servers,
    log,
    seconds: positive('seconds'),
    rounds: positive('rounds'),
    secrets: positive('secrets'),
    profiles: profiles === undefined ? undefined : resolve(profiles),
  };
}

function positive(name: 'seconds' | 'rounds' | 'secrets'): number {
  const given = Number(values[name]);
  return Number.isInteger(given) && given > 0 ? given : fail(`--${name} must be a whole number above 0`);
}

async function runListVerb(): Promise<void> {
  log(`\n${listVerb}: what accepting the verb LIST costs`);
  const program = new URL('./list-verb.ts', import.meta.url).pathname;
  await once(spawn(process.execPath, [program], { stdio: 'inherit' }), 'exit');
}

function list(): string {
  const lines = Object.entries(measured).map(([name, { about }]) => `  ${name.padEnd(10)}${about}`);
  return [...lines, `  ${listVerb.padEnd(10)}what accepting the verb LIST costs`].join('\n');
}

function fail(sentence: string): never {
  console.error(sentence);
  process.exit(1);
}

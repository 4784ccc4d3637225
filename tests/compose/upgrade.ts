// Tests an upgrade in place: starts the stack of an older commit, creates data, and replaces its images by those of this
// working tree while clients write. Everything from before must work, and the stores must converge. Needs Docker and git;
// takes minutes.
//
//   node scripts/run.mjs tests/compose/upgrade.ts <commit>              replaces all containers with one command
//   node scripts/run.mjs tests/compose/upgrade.ts <commit> --in-turn    replaces one service after the other first
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { sandboxTypes } from '../harness/destination-types.ts';
import { client } from '../harness/http.ts';
import { Load } from '../outages/load/load.ts';
import { longestInterruption } from './longest-interruption.ts';
import { OlderData } from './older-data.ts';
import { runSteps } from './run-steps.ts';
import { type Stack, services } from './stack.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const scales = ['login=2', 'secrets=2', 'sync-control=2', 'sync-worker-clouda-sm=2'];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { 'in-turn': { type: 'boolean' } },
});
const [commit] = positionals;
if (commit === undefined) {
  console.error('usage: node scripts/run.mjs tests/compose/upgrade.ts <commit> [--in-turn]');
  process.exit(2);
}

const folder = mkdtempSync(join(tmpdir(), 'older-version-'));
try {
  checkOut(commit, folder);
  checkMigrations(folder);
  await upgradeFrom(folder);
} finally {
  rmSync(folder, { recursive: true });
}

async function upgradeFrom(older: string): Promise<void> {
  await runSteps('upgrade', async (stack, step) => {
    const before = stack.in(older);
    const existing = (await before.ask('config', '--services')).split('\n');
    await step(`build ${commit}`, () => before.compose('build', '--quiet'));
    await step('start it', () =>
      before.up(
        services.filter((name) => existing.includes(name)),
        scales,
      ),
    );
    const rootToken = await stack.rootToken();
    const types = sandboxTypes.filter(({ type }) => existing.includes(`sync-worker-${type.toLowerCase()}`));
    const data = new OlderData({ ...stack, rootToken }, types);
    await step('create data of every kind', () => data.write());
    await step('build the new version', () => stack.compose('build', '--quiet'));
    const load = await Load.create({ ...stack, rootToken }, { pauseMs: 200 });
    await step('replace the containers while clients write', async () => {
      let interruption = '';
      await load.run(async () => {
        await load.written(30);
        const replace = () => (values['in-turn'] ? replaceInTurn(stack) : stack.up(services, scales));
        interruption = await longestInterruption(client(stack.url, rootToken), replace);
        await load.written(30);
      });
      const refusals = JSON.stringify(load.refusals);
      return `${interruption}\nrequests repeated, by status (0: no connection): ${refusals}`;
    });
    await step('wait until the store holds what was acknowledged', async () => {
      await load.untilSynced();
    });
    await step('check that the root token is the same', async () => {
      if ((await stack.rootToken()) !== rootToken) throw new Error('the root token is another one');
    });
    await step('use the data from before', () => data.check());
    await step('run the demo', stack.demo);
    await step('show the memory usage', stack.memory);
  });
}

/** Replaces the services in the order that docs/operations/running.md#upgrading describes. */
async function replaceInTurn(stack: Stack): Promise<void> {
  for (const name of ['login', 'secrets', 'sync-control', 'gateway'])
    await stack.up(
      [name],
      scales.filter((scale) => scale.startsWith(`${name}=`)),
    );
  await stack.up(services, scales);
}

/** Writes the files of a commit to a folder. */
function checkOut(of: string, to: string): void {
  const archive = join(to, 'archive.tar');
  execFileSync('git', ['archive', '--output', archive, of], { cwd: root });
  execFileSync('tar', ['-C', to, '-xf', archive]);
  rmSync(archive);
}

/**
 * Throws if an older migration was renamed or changed since, which no release does: the new version would refuse the
 * database.
 */
function checkMigrations(older: string): void {
  const migrations = (of: string) => {
    const at = join(of, 'libs', 'schemas', 'migrations');
    const files = readdirSync(at, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.sql'),
    );
    return new Map(files.map((file) => [file, readFileSync(join(at, file), 'utf8')]));
  };
  const newer = migrations(root);
  const changed = [...migrations(older)].filter(([file, text]) => newer.get(file) !== text);
  if (changed.length === 0) return;
  throw new Error(`${commit} has other migrations: ${changed.map(([file]) => file).join(', ')}`);
}

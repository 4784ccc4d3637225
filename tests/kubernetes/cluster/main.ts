import { parseArgs } from 'node:util';
import { run } from '../../clients/run.ts';
import { timed } from '../../compose/run-steps.ts';
import { install } from '../install.ts';
import { checkChart } from './check-chart.ts';
import { checkOverlay } from './check-overlay.ts';
import { installImages, root, withFilesOf } from './images.ts';
import { kubectl } from './kubectl.ts';
import { findNodeObstacle, type SingleNode, startNode } from './single-node/node.ts';
import { programFolder } from './single-node/programs.ts';
import { checkUpgrade } from './upgrade.ts';

const checks = ['overlay', 'upgrade', 'chart'];

const options = {
  cluster: { type: 'boolean' },
  'single-node': { type: 'boolean' },
  load: { type: 'string' },
  from: { type: 'string' },
  only: { type: 'string', multiple: true },
  'away-seconds': { type: 'string', default: '300' },
} as const;

/**
 * The checks on a cluster, and a cluster to run them on. Returns the exit code. With `--single-node` alone, the cluster runs
 * until this process is interrupted.
 */
export async function runOnCluster(args: string[]): Promise<number> {
  const { values } = parseArgs({ args, options });
  let node: SingleNode | undefined;
  if (values['single-node']) {
    const obstacle = await findNodeObstacle();
    if (obstacle !== undefined) {
      console.error(`no cluster can be made on this machine: ${obstacle}`);
      return 1;
    }
    node = await startNode();
    process.env.KUBECONFIG = node.kubeconfig;
    process.env.PATH = `${programFolder}:${process.env.PATH}`;
  }
  const interrupted = new Promise<string>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => resolve(signal));
  });
  try {
    if (node !== undefined && !values.cluster) return await keep(node, interrupted);
    const reason = await Promise.race([checkCluster(values), interrupted, ...(node ? [node.ended] : [])]);
    if (reason !== undefined) throw new Error(reason);
    console.log('cluster: passed');
    return 0;
  } catch (error) {
    console.error(`cluster: FAILED: ${error instanceof Error ? error.message : String(error)}`);
    return 1;
  } finally {
    await node?.stop();
  }
}

async function keep(node: SingleNode, interrupted: Promise<string>): Promise<number> {
  console.log(
    `the cluster runs until you end it with Ctrl-C:\n  export KUBECONFIG=${node.kubeconfig} PATH=${programFolder}:$PATH`,
  );
  const reason = await Promise.race([node.ended, interrupted]);
  console.log(reason);
  return /^SIG/.test(reason) ? 0 : 1;
}

interface Values {
  load?: string | undefined;
  from?: string | undefined;
  only?: string[] | undefined;
  'away-seconds': string;
}

async function checkCluster({ load, from, only = checks, 'away-seconds': away }: Values): Promise<void> {
  await requireUnused();
  const obstacle = only.includes('chart') ? await install() : undefined; // Helm
  if (obstacle !== undefined) throw new Error(obstacle);
  const current = { folder: root, tag: 'local' };
  await timed('build the images', () => installImages(current, load));
  if (only.includes('overlay')) await checkOverlay(current, Number(away), timed);
  if (!only.includes('upgrade') && !only.includes('chart')) return;
  const commit = from ?? (await lastTag());
  await withFilesOf(commit, async (folder) => {
    const older = { folder, tag: 'older' };
    await timed(`build the images of ${commit}`, () => installImages(older, load));
    if (only.includes('upgrade')) await checkUpgrade(older, current, timed);
    if (only.includes('chart')) await checkChart(older, current, timed);
  });
}

/** The commit of the last release; before the first one, one that is 200 commits old. */
async function lastTag(): Promise<string> {
  const { code, stdout } = await run('git', ['describe', '--tags', '--abbrev=0', 'HEAD^'], { cwd: root });
  return code === 0 ? stdout.trim() : 'HEAD~200';
}

/** Namespaces that the checks create and delete. */
const namespaces = ['secrets-service', 'secrets-chart', 'secrets-restored', 'secrets-load'];

/** Throws if the cluster has one of the namespaces already: it may be in use. */
async function requireUnused(): Promise<void> {
  const found = (
    await kubectl(['get', 'namespace', ...namespaces, '--ignore-not-found', '-o', 'name'])
  ).trim();
  if (found === '') return;
  throw new Error(
    `the cluster has ${found.split('\n').join(', ')} already; delete what you do not need, or use another one`,
  );
}

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { mustRun } from '../../clients/run.ts';
import { kubectl } from './kubectl.ts';
import { importImages } from './single-node/images.ts';
import { context as singleNode } from './single-node/settings.ts';

export const root = fileURLToPath(new URL('../../..', import.meta.url));
const timeoutMs = 3_600_000;

/** Files of a version, and the tag of its images. */
export interface Version {
  folder: string;
  tag: string;
}

/** Builds the images of all services from the files in `folder`, as docs/kubernetes.md does, and copies them into the cluster. */
export async function installImages({ folder, tag }: Version, load: string | undefined): Promise<void> {
  const env = { ...process.env, VERSION: tag };
  await mustRun('docker', ['buildx', 'bake', '--load', 'service'], { cwd: folder, env, timeoutMs });
  const listed = await mustRun('docker', [
    'image',
    'ls',
    '--format',
    '{{.Repository}}:{{.Tag}}',
    `secrets-service-*:${tag}`,
  ]);
  const names = listed
    .trim()
    .split('\n')
    .filter((name) => !name.startsWith('secrets-service-node-'));
  await loadImages(names, load);
}

/** Copies images into the cluster of the kubeconfig: with `command`, or as its kind of cluster needs. */
async function loadImages(names: string[], command: string | undefined): Promise<void> {
  const context = (await kubectl(['config', 'current-context'])).trim();
  if (command !== undefined)
    return void (await mustRun('sh', ['-c', `${command} "$@"`, 'sh', ...names], { timeoutMs }));
  if (context === singleNode) return importImages(names);
  if (context.startsWith('kind-'))
    return void (await mustRun('kind', ['load', 'docker-image', '--name', context.slice(5), ...names], {
      timeoutMs,
    }));
  if (context === 'minikube')
    return void (await mustRun('minikube', ['image', 'load', ...names], { timeoutMs }));
  throw new Error(
    'say with --load which command, followed by names of images, copies them into this cluster',
  );
}

/** Passes the files of an older commit to `use`, in a temporary folder. */
export async function withFilesOf(commit: string, use: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'older-version-'));
  try {
    const archive = join(folder, 'archive.tar');
    await mustRun('git', ['archive', '--output', archive, commit], { cwd: root });
    await mustRun('tar', ['-C', folder, '-xf', archive]);
    rmSync(archive);
    await use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

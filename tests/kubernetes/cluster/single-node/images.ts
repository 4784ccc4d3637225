import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mustRun } from '../../../clients/run.ts';
import { programFile } from './programs.ts';
import { paths } from './settings.ts';

/** The container that holds the network of a pod. */
export const pauseImage = 'secrets-service-node-pause:local';
export const dnsImage = 'secrets-service-node-dns:local';

const servers = ['postgres:17', 'rabbitmq:4-management'];

/** Builds the images that every cluster has, with Docker. Returns their names and those of the servers. */
export async function buildNodeImages(): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'node-images-'));
  try {
    const build = async (name: string, ...lines: string[]) => {
      writeFileSync(join(folder, 'Dockerfile'), lines.join('\n'));
      await mustRun('docker', ['build', '--quiet', '--tag', name, folder]);
    };
    await build(pauseImage, 'FROM node:24-slim', 'ENTRYPOINT ["sleep", "infinity"]');
    copyFileSync(programFile('coredns'), join(folder, 'coredns'));
    await build(dnsImage, 'FROM scratch', 'COPY coredns /coredns', 'ENTRYPOINT ["/coredns"]');
  } finally {
    rmSync(folder, { recursive: true });
  }
  return [pauseImage, dnsImage, ...servers];
}

/** Copies images of Docker into the cluster. */
export async function importImages(names: readonly string[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'node-images-'));
  const file = join(folder, 'images.tar');
  try {
    await mustRun('docker', ['save', '--output', file, ...names]);
    await mustRun('ctr', [...paths.ctr, '--namespace', 'k8s.io', 'images', 'import', file]);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

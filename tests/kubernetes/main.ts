// Renders the overlays of k8s/, validates them, and checks what they permit. The programs and schemas that this needs
// are installed into node_modules/.cache/kubernetes. The last lines say what did not run, and why.
//
//   npm run kubernetes [-- jest arguments]
//   npm run kubernetes -- --cluster          the checks on the cluster of the kubeconfig: README.md
//   npm run kubernetes -- --single-node      a cluster of one node on this machine; with --cluster, the checks on it
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { install } from './install.ts';

const pathOf = (file: string) => fileURLToPath(new URL(file, import.meta.url));

const args = process.argv.slice(2);
if (args.includes('--cluster') || args.includes('--single-node')) {
  const { runOnCluster } = await import('./cluster/main.ts');
  process.exit(await runOnCluster(args));
}
const obstacle = await install();
if (obstacle !== undefined) {
  console.log(`not run: the checks of k8s/: ${obstacle}`);
  process.exit(0);
}
const child = spawn(
  process.execPath,
  [
    '--disable-warning=ExperimentalWarning',
    pathOf('../../node_modules/jest/bin/jest.js'),
    '--config',
    pathOf('./jest.config.js'),
    ...args,
  ],
  { stdio: 'inherit' },
);
const [code] = await once(child, 'exit');
process.exit(code ?? 1);

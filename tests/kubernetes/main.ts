// Renders the overlays of k8s/, validates them, and checks what they permit. The programs and schemas that this needs
// are installed into node_modules/.cache/kubernetes. The last lines say what did not run, and why.
//
//   npm run kubernetes [-- jest arguments]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { install } from './install.ts';

const pathOf = (file: string) => fileURLToPath(new URL(file, import.meta.url));

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
    ...process.argv.slice(2),
  ],
  { stdio: 'inherit' },
);
const [code] = await once(child, 'exit');
process.exit(code ?? 1);

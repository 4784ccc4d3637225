// Runs clients of Vault and OpenBao, unmodified, against this service, and compares its responses with those of
// OpenBao. Each client is installed from its own registry into node_modules/.cache/clients. The last lines say what did
// not run, and why.
//
//   npm run clients [-- jest arguments]             everything, or what the arguments select
//   npm run clients -- differential --sequences 5000 --length 60 --seed 7
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { clientNames, install } from './install/install.ts';

const jest = fileURLToPath(new URL('../../node_modules/jest/bin/jest.js', import.meta.url));
const config = fileURLToPath(new URL('./jest.config.js', import.meta.url));
/** Flags of the differential test. */
const variables: Record<string, string> = {
  '--sequences': 'DIFFERENTIAL_SEQUENCES',
  '--length': 'DIFFERENTIAL_LENGTH',
  '--seed': 'DIFFERENTIAL_SEED',
};

const missing: string[] = [];
for (const name of clientNames) {
  const reason = await install(name);
  console.log(`client: ${name}: ${reason ?? 'installed'}`);
  if (reason !== undefined) missing.push(`not run: ${name}: ${reason}`);
}
const passed = await runJest(process.argv.slice(2));
for (const line of missing) console.log(line);
console.log(passed ? 'all clients that could run have passed' : 'FAILED');
process.exit(passed ? 0 : 1);

async function runJest(given: string[]): Promise<boolean> {
  const args = ['--disable-warning=ExperimentalWarning', jest, '--config', config];
  const env: NodeJS.ProcessEnv = { ...process.env };
  for (let at = 0; at < given.length; at += 1) {
    const variable = variables[given[at]!];
    if (variable === undefined) args.push(given[at]!);
    else env[variable] = given[++at];
  }
  const child = spawn(process.execPath, args, { stdio: 'inherit', env });
  const [code] = await once(child, 'exit');
  return code === 0;
}

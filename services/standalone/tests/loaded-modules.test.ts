import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';

const app = new URL('../src/app.ts', import.meta.url).href;
const drivers = new URL('../src/drivers.ts', import.meta.url).href;

/** Prints the package of each module that is loaded until the program has run. */
const program = (code: string) => `
  import { registerHooks } from 'node:module';
  const packages = new Set();
  registerHooks({
    load(url, context, next) {
      packages.add(/.*\\/node_modules\\/((?:@[^/]+\\/)?[^/]+)\\//.exec(url)?.[1]);
      return next(url, context);
    },
  });
  ${code}
  console.log(JSON.stringify([...packages].filter(Boolean)));
  process.exit();
`;

async function packagesOf(code: string): Promise<string[]> {
  const args = ['--input-type=module', '--eval', program(code)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 60_000 });
  return JSON.parse(stdout) as string[];
}

const ofProviders = /^(@aws-sdk|@azure|@google-cloud|@octokit|libsodium)/;

test("the providers' SDKs are not loaded at the start, and each driver's with its first destination", async () => {
  const atStart = await packagesOf(`await import(${JSON.stringify(app)});`);
  expect(atStart).toContain('pg');
  expect(atStart.filter((name) => ofProviders.test(name))).toEqual([]);
  const connected = await packagesOf(`
    const { driversOf } = await import(${JSON.stringify(drivers)});
    await driversOf({}, undefined)[0].connect({}, {}).catch(() => undefined);`);
  expect(connected).toContain('@aws-sdk/client-secrets-manager');
  expect(connected.filter((name) => /^(@azure|@google-cloud|@octokit)/.test(name))).toEqual([]);
}, 120_000);

import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Installation, startInstallation } from '../../harness/installation.ts';
import { describeClient, testNames, titleOf } from '../describe-client.ts';
import { run } from '../run.ts';

describeClient('hvac', 'the Python client hvac, unmodified:', (folder) => {
  const cwd = fileURLToPath(new URL('./', import.meta.url));
  const names = testNames('./hvac/test_hvac.py', /^ {4}def (test_\w+)/gm);
  let service: Installation;
  /** Output of the Python test runner about all tests. */
  let printed: string;

  beforeAll(async () => {
    service = await startInstallation();
    const env = {
      ...process.env,
      VAULT_ADDR: service.url,
      VAULT_TOKEN: service.rootToken,
      SANDBOX_URL: service.sandboxUrl,
      PYTHONDONTWRITEBYTECODE: '1',
      PYTHONWARNINGS: 'ignore',
    };
    const args = ['-m', 'unittest', '--verbose', 'test_hvac'];
    printed = (await run(join(folder, 'bin', 'python'), args, { cwd, env })).stderr;
  });
  afterAll(() => service?.stop());

  test.each(names.map((name) => [titleOf(name), name]))('%s', (_title, name) => {
    if (new RegExp(`^${name} .*\\.\\.\\. ok$`, 'm').test(printed)) return;
    const report = printed.split(/^={70}$/m).find((part) => part.includes(`: ${name} `));
    throw new Error(report ?? printed);
  });

  test('all tests are listed', () => {
    expect(names).toHaveLength(Number(/^Ran (\d+) tests/m.exec(printed)?.[1]));
  });
});

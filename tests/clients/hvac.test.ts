import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, test } from '@jest/globals';
import { type Installation, startInstallation } from '../harness/installation.ts';
import { describeClient, testNames, titleOf } from './describe-client.ts';
import { mustRun } from './run.ts';

describeClient('hvac', 'the Python client hvac, unmodified:', (folder) => {
  const python = join(folder, 'bin', 'python');
  const cwd = fileURLToPath(new URL('./hvac/', import.meta.url));
  const names = testNames('./hvac/test_hvac.py', /^ {4}def (test_\w+)/gm);
  let service: Installation;

  beforeAll(async () => {
    service = await startInstallation();
  });
  afterAll(() => service?.stop());

  test.each(names.map((name) => [titleOf(name), name]))('%s', async (_title, name) => {
    const env = {
      ...process.env,
      VAULT_ADDR: service.url,
      VAULT_TOKEN: service.rootToken,
      SANDBOX_URL: service.sandboxUrl,
      PYTHONDONTWRITEBYTECODE: '1',
    };
    await mustRun(python, ['-m', 'unittest', `test_hvac.Hvac.${name}`], { cwd, env });
  });
});

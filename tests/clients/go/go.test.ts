import { join } from 'node:path';
import { afterAll, beforeAll, test } from '@jest/globals';
import { type Installation, startInstallation } from '../../harness/installation.ts';
import { describeClient, testNames, titleOf } from '../describe-client.ts';
import { mustRun } from '../run.ts';

describeClient('go', 'the Go client, unmodified:', (folder) => {
  const names = testNames('./go/client_test.go', /^func (Test\w+)/gm);
  let service: Installation;

  beforeAll(async () => {
    service = await startInstallation();
  });
  afterAll(() => service?.stop());

  test.each(names.map((name) => [titleOf(name), name]))('%s', async (_title, name) => {
    const env = { ...process.env, VAULT_ADDR: service.url, VAULT_TOKEN: service.rootToken };
    await mustRun(join(folder, 'client.test'), ['-test.run', `^${name}$`], { env });
  });
});

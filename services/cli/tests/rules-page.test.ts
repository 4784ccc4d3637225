import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { codeOf } from '../../../tests/clients/openbao/pages/code-blocks.ts';
import { PageShell } from '../../../tests/clients/openbao/pages/page-shell.ts';
import { eventually } from '../../../tests/harness/eventually.ts';
import { expectStatus } from '../../../tests/harness/http.ts';
import { type Installation, startInstallation } from '../../../tests/harness/installation.ts';

const program = fileURLToPath(new URL('../src/secrets-sync.ts', import.meta.url));
const page = 'rules.md';

describe('docs/rules.md:', () => {
  let service: Installation;
  let shell: PageShell;

  beforeAll(async () => {
    service = await startInstallation();
    shell = new PageShell('', service.url);
    shell.addProgram('secrets-sync', `exec '${process.execPath}' '${program}' "$@"\n`);
    Object.assign(shell.env, { VAULT_ADDR: service.url, VAULT_TOKEN: service.rootToken });
    Object.assign(shell.env, { A: `${service.url}/v1`, T: `X-Vault-Token: ${service.rootToken}` });
    expectStatus(await service.api('POST', 'sys/mounts/kv', { type: 'kv', options: { version: '2' } }), 204);
    for (const name of ['shop/db', 'shop/tmp', 'team/api'])
      expectStatus(await service.api('POST', `kv/data/${name}`, { data: { password: name } }), 200);
    const destination = { region: 'eu-west-1', ...(await service.sandbox.credentials()) };
    expectStatus(await service.api('POST', 'sys/sync/destinations/cloudA-sm/main', destination), 200);
  });
  afterAll(async () => {
    shell?.discard();
    await service?.stop();
  });

  /** Waits until the store has exactly these secrets. */
  const untilOutside = (...names: string[]) =>
    eventually(
      async () =>
        Object.keys(await service.sandbox.secrets())
          .map((name) => name.split('/').slice(2).join('/'))
          .toSorted()
          .join(),
      (found) => found === names.join(),
    );

  const [plan, write, later] = codeOf(page, 'A folder', 'sh');
  const [publish, choose] = codeOf(page, 'Let developers publish', 'sh');
  const [narrow, end] = codeOf(page, 'Narrow a rule, or end it', 'sh');

  test('a rule associates a folder, and what is created later', async () => {
    expect(await shell.print(plan!)).toMatch(/^kv\/shop\/tmp +associated/m);
    expect(await shell.print(write!)).toMatch(/^exclude +shop\/tmp\*$/m);
    await untilOutside('shop/db');
    await shell.print(later!);
    await untilOutside('shop/db', 'shop/mail');
  });

  test('a developer publishes with metadata', async () => {
    await shell.print(publish!);
    await shell.print(choose!);
    await untilOutside('shop/db', 'shop/mail', 'team/api');
  });

  test('a rule is narrowed with the fingerprint of its plan, and another one ends without a removal', async () => {
    expect(await shell.print(narrow!)).toMatch(/1 to release; to write it: --confirm \w{32}$/m);
    await untilOutside('shop/db', 'team/api');
    await shell.print(end!);
    await eventually(
      () => service.api('GET', 'sys/sync/destinations/cloudA-sm/main/rules/published'),
      ({ status }) => status === 404,
    );
    await untilOutside('shop/db', 'team/api');
  });
});

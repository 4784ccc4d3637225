import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Browser } from '../../../libs/testing/src/browser.ts';
import { type Installation, startInstallation } from '../../harness/installation.ts';
import { describeClient } from '../describe-client.ts';
import { Bao } from './bao.ts';

const callback = 'http://localhost:8250/oidc/callback';

describeClient('openbao', 'bao login -method=oidc, unmodified:', (folder) => {
  const program = join(folder, 'bin', 'bao');
  let service: Installation;
  beforeAll(async () => {
    service = await startInstallation();
  });
  afterAll(() => service?.stop());

  /** Runs a login, and signs a person in at the URL that it prints, as a browser does. */
  async function logIn(bao: Bao, person: string): Promise<{ code: number; output: string }> {
    const options = bao.environment();
    const login = spawn(program, ['login', '-method=oidc', 'skip_browser=true'], options);
    let output = '';
    let visited: Promise<unknown> | undefined;
    const read = (chunk: Buffer) => {
      output += chunk.toString();
      const url = /http:\/\/\S+\/provider\/auth\?\S+/.exec(output)?.[0];
      if (url === undefined || visited !== undefined) return;
      visited = new Browser()
        .signIn(url, callback, `person=${person}`)
        .then((returned) => fetch(`${callback}?${returned}`));
    };
    login.stdout.on('data', read);
    login.stderr.on('data', read);
    const [code] = (await once(login, 'exit')) as [number];
    await visited;
    return { code, output };
  }

  test('logs a person in, with the policy of their group', async () => {
    const bao = new Bao(program, service.url);
    expect(await logIn(bao, 'operator')).toMatchObject({ code: 0 });
    const { data } = await bao.json('token lookup');
    expect(data).toMatchObject({ display_name: 'oidc-operator', identity_policies: ['operator'] });
    await bao.print('secrets list');
    bao.discard();
  });

  test('shows why somebody is refused', async () => {
    const bao = new Bao(program, service.url);
    const { code, output } = await logIn(bao, 'guest');
    expect([code, output]).toEqual([2, expect.stringMatching(/groups/)]);
    bao.discard();
  });
});

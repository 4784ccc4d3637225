import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Browser } from '../../../../libs/testing/src/browser.ts';
import { freePorts } from '../../../../scripts/free-ports.ts';
import {
  clientId,
  clientSecret,
  type ProviderForTest,
  startProvider,
} from '../../../../services/login/tests/jwt/oidc/provider-for-test.ts';
import { type Installation, startInstallation } from '../../../harness/installation.ts';
import { describeClient } from '../../describe-client.ts';
import { codeOf } from './code-blocks.ts';
import { PageShell } from './page-shell.ts';

const page = 'operations/first-day.md';
const consoleUri = 'https://secrets.example/ui/signed-in';
const programUri = 'http://localhost:8250/oidc/callback';

/** A provider that puts the groups of its users into ID tokens, as the page asks for. */
const settings = {
  clients: [
    {
      client_id: clientId,
      client_secret: clientSecret,
      redirect_uris: [consoleUri, programUri],
      grant_types: ['authorization_code'],
      response_types: ['code'],
    },
  ],
  claims: { openid: ['sub', 'groups'] },
};

describeClient('openbao', 'docs/operations/first-day.md:', (folder) => {
  let provider: ProviderForTest;
  let service: Installation;
  let shell: PageShell;
  let accessorOfRoot: string;

  beforeAll(async () => {
    provider = await startProvider(settings);
    // Without what `npm start` prepares beside a sandbox: the page begins with nothing.
    service = await startInstallation({
      LOGIN_EGRESS_ALLOW: `127.0.0.1/32:${provider.port}`,
      SANDBOX: 'off',
    });
    shell = new PageShell(join(folder, 'bin'), service.url, {
      'BAO_ADDR=https://secrets.example': `BAO_ADDR=${service.url}`,
      '<issuer>': provider.url,
      '<client ID>': clientId,
      '<secret>': clientSecret,
    });
    Object.assign(shell.env, {
      DATA_DIR: service.dataDir,
      RECOVERY_FILE: join(shell.home, 'recovery-token'),
    });
    shell.addProgram('bao', await browserless(join(folder, 'bin', 'bao')));
    writeFileSync(join(shell.home, 'root-token'), service.rootToken);
  });
  afterAll(async () => {
    shell?.discard();
    await service?.stop();
    await provider?.stop();
  });

  const as = (person: string, groups: string[]) => {
    provider.user = { sub: person, claims: { groups } };
  };

  /** Runs the commands of a step, and signs the person of the provider in at the URL that they print. */
  async function runSigningIn(commands: string): Promise<{ code: number; output: string }> {
    const args = ['--norc', '-euo', 'pipefail', '-c', shell.replaced(commands)];
    const child = spawn('bash', args, { cwd: shell.home, env: shell.env });
    let output = '';
    let visited: Promise<unknown> | undefined;
    const read = (chunk: Buffer) => {
      output += chunk.toString();
      const url = /http:\/\/\S+\/auth\?\S+/.exec(output)?.[0];
      if (url === undefined || visited !== undefined) return;
      visited = new Browser()
        .signIn(url, programUri)
        .then((returned) => fetch(`http://localhost:${listener}/oidc/callback?${returned}`));
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    const [code] = (await once(child, 'exit')) as [number];
    await visited;
    return { code, output };
  }

  let listener: number;
  /** A `bao` that opens no browser, and listens where no other test does, although the URI is that of the page. */
  async function browserless(program: string): Promise<string> {
    [listener] = (await freePorts(1)) as [number];
    const options = `skip_browser=true port=${listener} callbackport=8250`;
    return `case "$*" in *-method=oidc*) exec '${program}' "$@" ${options};; *) exec '${program}' "$@";; esac\n`;
  }

  test('with the root token, a sign-in is enabled and groups have their policies', async () => {
    await shell.print(codeOf(page, 'The first day', 'sh')[0]!);
    const { body } = await service.api('GET', 'auth/token/lookup-self');
    accessorOfRoot = body.data.accessor;
    await shell.print(codeOf(page, '2. Enable sign-in', 'sh')[0]!);
    await shell.print(codeOf(page, '3. Give groups their policies', 'sh')[0]!);
  });

  test.each(['operator', 'developer', 'auditor'])(
    'a person of the group of %ss has its policy',
    async (name) => {
      as(name, ['everybody', `${name}s`]);
      const [commands] = codeOf(page, '4. Sign in, and revoke the root token', 'sh');
      const { code, output } = await runSigningIn(commands!);
      expect([code, output]).toEqual([0, expect.stringMatching(`identity_policies +\\[${name}\\]`)]);
    },
  );

  test('a person without one of the groups is refused', async () => {
    as('mallory', ['everybody']);
    const { code, output } = await runSigningIn('bao login -method=oidc');
    expect([code, output]).toEqual([2, expect.stringMatching(/groups/)]);
  });

  test('the console lets the same person in', async () => {
    as('operator', ['operators']);
    const anonymous = service.as(undefined);
    const nonce = { client_nonce: 'a-nonce-of-the-console' };
    const { body } = await anonymous('POST', 'auth/oidc/oidc/auth_url', {
      redirect_uri: consoleUri,
      ...nonce,
    });
    const returned = await new Browser().signIn(body.data.auth_url, consoleUri);
    const callback = await anonymous('POST', 'auth/oidc/oidc/callback', {
      ...Object.fromEntries(returned),
      ...nonce,
    });
    expect(callback.body.auth.identity_policies).toEqual(['operator']);
  });

  test('the root token is revoked, and people remain signed in', async () => {
    as('operator', ['operators']);
    await runSigningIn('bao login -method=oidc');
    const token = readFileSync(join(shell.home, '.vault-token'), 'utf8').trim();
    await shell.print(codeOf(page, '4. Sign in, and revoke the root token', 'sh')[1]!);
    expect(shell.has('root-token')).toBe(false);
    expect((await service.api('GET', 'auth/token/lookup-self')).status).toBe(403);
    expect((await service.as(token)('GET', 'sys/mounts')).status).toBe(200);
  });

  test('if nobody can sign in, `recover` makes another root token, and is revoked in turn', async () => {
    const [commands] = codeOf(page, '5. If one day nobody can sign in', 'sh');
    const [recover, login, ...rest] = commands!.trim().split('\n');
    await shell.print(`${recover}\n${login}`);
    const shown = await shell.print('bao token lookup');
    expect(shown).toMatch(/policies +\[root\]/);
    expect(shown).not.toContain(accessorOfRoot);
    await shell.print('bao read auth/oidc/config');
    const token = readFileSync(join(shell.home, 'recovery-token'), 'utf8').trim();
    await shell.print(rest.join('\n'));
    expect(shell.has('recovery-token')).toBe(false);
    expect((await service.as(token)('GET', 'auth/token/lookup-self')).status).toBe(403);
  });
});

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { type IssuerForTest, startIssuer } from '../../../../services/login/tests/jwt/issuer-for-test.ts';
import { expectStatus } from '../../../harness/http.ts';
import { type Installation, startInstallation } from '../../../harness/installation.ts';
import { describeClient } from '../../describe-client.ts';
import type { Run } from '../../run.ts';
import { codeOf } from './code-blocks.ts';
import { PageShell } from './page-shell.ts';
import { type Claims, githubClaims, gitlabClaims, terraformClaims } from './pipeline-tokens.ts';
import { startTokenRequests } from './token-request.ts';

const page = 'operations/pipelines.md';
const audience = 'https://secrets.example';
const password = 'the-password';

describeClient('openbao', 'docs/operations/pipelines.md:', (folder) => {
  let issuers: Record<string, IssuerForTest>;
  let service: Installation;
  let shell: PageShell;
  const bin = join(folder, 'bin');

  beforeAll(async () => {
    const [github, gitlab, terraform] = await Promise.all([startIssuer(), startIssuer(), startIssuer()]);
    issuers = { github, gitlab, terraform };
    const places = [github, gitlab, terraform].map(({ port }) => `127.0.0.1/32:${port}`);
    service = await startInstallation({ LOGIN_EGRESS_ALLOW: places.join(',') });
    shell = new PageShell(bin, service.url, {
      'https://token.actions.githubusercontent.com': github.url,
      'https://gitlab.com': gitlab.url,
      'https://app.terraform.io': terraform.url,
    });
    expectStatus(await service.api('POST', 'sys/mounts/secret', { type: 'kv' }), 204);
    expectStatus(await service.api('POST', 'secret/data/shop/db', { data: { password } }), 200);
    await asOperator(codeOf(page, 'Pipelines', 'sh')[0]!);
    for (const platform of ['GitHub Actions', 'GitLab CI', 'Terraform Cloud'])
      await asOperator(codeOf(page, platform, 'sh')[0]!);
  });
  afterAll(async () => {
    shell?.discard();
    await service?.stop();
    for (const issuer of Object.values(issuers ?? {})) await issuer.stop();
  });

  const asOperator = (commands: string) => shell.print(commands, { BAO_TOKEN: service.rootToken });

  /** Signs a token of a platform, whose other claims replace some of its usual ones. */
  const signed = (platform: string, usual: Claims, other: Claims) => {
    const header = { typ: 'JWT', kid: issuers[platform]!.kid };
    return issuers[platform]!.signOnly({ ...usual, ...other }, header);
  };

  const logIn = async (platform: string, role: string, jwt: string): Promise<[number, string]> => {
    const { status, body } = await service.as(undefined)('POST', `auth/${platform}/login`, { role, jwt });
    return [status, status === 200 ? String(body.auth.token_policies) : String(body.errors)];
  };

  /** Neighbours of the job, with what the refusal must name. */
  const refused: Record<string, { name: string; other: Claims; reason: RegExp }[]> = {
    github: [
      {
        name: 'a fork',
        other: { repository: 'mallory/shop', repository_owner_id: '66' },
        reason: /repository/,
      },
      { name: 'another repository', other: { repository: 'acme/shop-evil' }, reason: /repository/ },
      {
        name: 'a later owner of the name',
        other: { repository_owner_id: '99' },
        reason: /repository_owner_id/,
      },
      { name: 'another branch', other: { ref: 'refs/heads/main2' }, reason: /ref/ },
      { name: 'a tag', other: { ref: 'refs/tags/main', ref_type: 'tag' }, reason: /ref/ },
      { name: 'another environment', other: { environment: 'staging' }, reason: /environment/ },
      { name: 'no environment', other: { environment: undefined }, reason: /environment/ },
      { name: 'the default audience', other: { aud: 'https://github.com/acme' }, reason: /aud/ },
      { name: 'another issuer', other: { iss: 'https://ghe.example/_services/token' }, reason: /iss/ },
      { name: 'an earlier time', other: { exp: 1_700_000_000 }, reason: /exp/ },
    ],
    gitlab: [
      { name: 'a fork', other: { project_id: '21', project_path: 'mallory/shop' }, reason: /project_id/ },
      { name: 'another branch', other: { ref: 'other', ref_path: 'refs/heads/other' }, reason: /ref/ },
      { name: 'an unprotected branch', other: { ref_protected: 'false' }, reason: /ref_protected/ },
      { name: 'a tag', other: { ref_type: 'tag', ref_path: 'refs/tags/main' }, reason: /ref_type/ },
      { name: 'another audience', other: { aud: 'https://vault.example' }, reason: /aud/ },
      { name: 'a number for the text', other: { project_id: 20 }, reason: /project_id/ },
    ],
    terraform: [
      {
        name: 'another organization',
        other: { terraform_organization_id: 'org-x' },
        reason: /organization_id/,
      },
      { name: 'another workspace', other: { terraform_workspace_id: 'ws-x' }, reason: /workspace_id/ },
      { name: 'a plan', other: { terraform_run_phase: 'plan' }, reason: /run_phase/ },
      { name: 'the default audience', other: { aud: 'vault.workload.identity' }, reason: /aud/ },
    ],
  };
  const platforms: Record<string, { role: string; usual: () => Claims }> = {
    github: { role: 'shop', usual: () => githubClaims(issuers.github!.url, audience) },
    gitlab: { role: 'shop', usual: () => gitlabClaims(issuers.gitlab!.url, audience) },
    terraform: {
      role: 'shop-apply',
      usual: () => terraformClaims(issuers.terraform!.url, audience, 'apply'),
    },
  };

  describe.each(Object.keys(platforms))('%s', (platform) => {
    const { role, usual } = platforms[platform]!;

    test('a token of the job logs in', async () => {
      const jwt = await signed(platform, usual(), {});
      expect(await logIn(platform, role, jwt)).toEqual([200, expect.stringContaining(role)]);
    });

    test.each(refused[platform]!)('a token with the claims of $name does not', async ({ other, reason }) => {
      const jwt = await signed(platform, usual(), other);
      expect(await logIn(platform, role, jwt)).toEqual([403, expect.stringMatching(reason)]);
    });

    test('a token with the key of another issuer does not', async () => {
      const other = platform === 'github' ? 'gitlab' : 'github';
      const jwt = await signed(other, usual(), {});
      expect((await logIn(platform, role, jwt))[0]).toBe(403);
    });
  });

  test.each(['github', 'gitlab'])('a token of %s logs in once', async (platform) => {
    const jwt = await signed(platform, platforms[platform]!.usual(), {});
    expect((await logIn(platform, 'shop', jwt))[0]).toBe(200);
    expect(await logIn(platform, 'shop', jwt)).toEqual([403, expect.stringMatching(/once|before|used/)]);
  });

  describe('the job of GitHub Actions', () => {
    const job = parse(codeOf(page, 'GitHub Actions', 'yaml')[0]!).jobs.deploy;

    /** Runs the step of the job, as the runner does, with a token that has these claims instead of its own. */
    async function runJob(other: Claims): Promise<Run & { variables: string }> {
      const { environment, permissions, steps } = job;
      const usual = (aud: string) => ({ ...githubClaims(issuers.github!.url, aud), environment });
      const requests = await startTokenRequests((aud) => signed('github', usual(aud), other));
      const file = join(shell.home, 'github-env');
      writeFileSync(file, '');
      const permitted = permissions['id-token'] === 'write' ? requests.env : {};
      const run = await shell.run(steps[0].run, { ...permitted, GITHUB_ENV: file });
      await requests.stop();
      return { ...run, variables: readFileSync(file, 'utf8') };
    }

    test('gets its token, logs in and reads its secret, which is masked', async () => {
      const { code, stdout, stderr, variables } = await runJob({});
      expect([code, stderr, variables]).toEqual([0, '', `DB_PASSWORD=${password}\n`]);
      expect(stdout).toMatch(/^::add-mask::sst_\S+\n::add-mask::the-password\n$/);
    });

    test('fails with the token of another branch, and shows no token', async () => {
      const { code, stdout, variables } = await runJob({ ref: 'refs/heads/other' });
      expect([code !== 0, stdout, variables]).toEqual([true, '', '']);
    });

    test('uses the address that is the audience of the role', () => {
      expect(job.env.BAO_ADDR).toBe(audience);
    });
  });

  describe('the job of GitLab CI', () => {
    const job = parse(codeOf(page, 'GitLab CI', 'yaml')[0]!).deploy;

    async function runJob(other: Claims): Promise<Run> {
      const { aud } = job.id_tokens.SECRETS_JWT;
      const SECRETS_JWT = await signed('gitlab', gitlabClaims(issuers.gitlab!.url, aud), other);
      const deploy = join(shell.home, 'deploy.sh');
      writeFileSync(deploy, '#!/bin/sh\necho deployed\n', { mode: 0o700 });
      const lines: string[] = job.script;
      return shell.run(`${lines.join('\n')}\necho "$DB_PASSWORD"`, { SECRETS_JWT });
    }

    test('logs in and reads its secret', async () => {
      const { code, stdout, stderr } = await runJob({});
      expect([code, stderr, stdout]).toEqual([0, '', `deployed\n${password}\n`]);
    });

    test('fails with the token of a merge request', async () => {
      const other = { ref: 'feature', ref_protected: 'false', pipeline_source: 'merge_request_event' };
      const { code, stdout, stderr } = await runJob(other);
      expect([code, stdout, stderr]).toEqual([2, '', expect.stringMatching(/ref/)]);
    });
  });

  test('Terraform Cloud logs in to the roles of its variables', async () => {
    const variables = codeOf(page, 'Terraform Cloud', 'sh')[1]!;
    const env = Object.fromEntries(
      variables
        .trim()
        .split('\n')
        .map((line) => line.split(/=(.*)/s).slice(0, 2)),
    );
    expect(env).toMatchObject({ TFC_VAULT_PROVIDER_AUTH: 'true', TFC_VAULT_ADDR: audience });
    for (const phase of ['plan', 'apply']) {
      const role = env[`TFC_VAULT_${phase.toUpperCase()}_ROLE`];
      const { TFC_VAULT_AUTH_PATH: path, TFC_VAULT_WORKLOAD_IDENTITY_AUDIENCE: aud } = env;
      const jwt = await signed('terraform', terraformClaims(issuers.terraform!.url, aud, phase), {});
      expect(await logIn(path, role, jwt)).toEqual([200, expect.stringContaining(`shop-${phase}`)]);
    }
  });

  test('the diagnosis of a refused token shows the claim that does not match', async () => {
    const jwt = await signed('github', githubClaims(issuers.github!.url, audience), { ref: 'refs/heads/x' });
    writeFileSync(join(shell.home, 'job.jwt'), jwt);
    const shown = await asOperator(codeOf(page, 'If a login is refused', 'sh')[0]!);
    expect(shown).toMatch(/admitted\s+false/);
  });
});

import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type IssuerForTest, startIssuer } from '../../../../services/login/tests/jwt/issuer-for-test.ts';
import { type Installation, startInstallation } from '../../../harness/installation.ts';
import { describeClient } from '../../describe-client.ts';
import { codeOf } from './code-blocks.ts';
import { PageShell } from './page-shell.ts';

const ids = {
  tenant: '11111111-2222-4333-8444-555555555555',
  client: '22222222-3333-4444-8555-666666666666',
  group: '33333333-4444-4555-8666-777777777777',
  user: '44444444-5555-4666-8777-888888888888',
  azureCli: '04b07795-8ddb-461a-bbee-02f9e1bf7b46',
};
const [roleBlock, loginBlock] = codeOf('operations/login.md', 'Users of Entra ID in scripts', 'sh');

describeClient('openbao', 'docs/operations/login.md, users of Entra ID:', (folder) => {
  let issuer: IssuerForTest;
  let service: Installation;
  let shell: PageShell;

  beforeAll(async () => {
    issuer = await startIssuer(`/${ids.tenant}/v2.0/.well-known/openid-configuration`);
    const iss = `${issuer.url}/${ids.tenant}/v2.0`;
    issuer.serve({ discovery: { issuer: iss, jwks_uri: `${issuer.url}/${ids.tenant}/discovery/v2.0/keys` } });
    service = await startInstallation({ LOGIN_EGRESS_ALLOW: `127.0.0.1/32:${issuer.port}` });
    shell = new PageShell(join(folder, 'bin'), service.url, {
      'https://login.microsoftonline.com': issuer.url,
      '<tenant ID>': ids.tenant,
      '<client ID>': ids.client,
      '<group ID>': ids.group,
    });
    const command = `account get-access-token --scope ${ids.client}/access --query accessToken --output tsv`;
    shell.addProgram('az', `[ "$*" = '${command}' ] && cat "$HOME/access-token"\n`);
    await shell.print(roleBlock!, { BAO_TOKEN: service.rootToken });
  });
  afterAll(async () => {
    shell?.discard();
    await service?.stop();
    await issuer?.stop();
  });

  /** Has `az` return a token of version 2: https://learn.microsoft.com/entra/identity-platform/access-token-claims-reference */
  async function signIn(claims: Record<string, unknown>): Promise<void> {
    const iat = Math.floor(Date.now() / 1_000);
    const token = await issuer.signOnly({
      aud: ids.client,
      iss: `${issuer.url}/${ids.tenant}/v2.0`,
      iat,
      nbf: iat,
      exp: iat + 4_200,
      aio: 'AXQAi/8T',
      azp: ids.azureCli,
      azpacr: '0',
      groups: [ids.group, '55555555-6666-4777-8888-999999999999'],
      name: 'Ann',
      oid: ids.user,
      preferred_username: 'ann@acme.example',
      rh: '1.AAAA',
      scp: 'access',
      sub: 'pairwise-for-the-application',
      tid: ids.tenant,
      uti: randomUUID(),
      ver: '2.0',
      ...claims,
    });
    writeFileSync(join(shell.home, 'access-token'), token);
  }

  test('a user in the group logs in with the token of az, once', async () => {
    await signIn({});
    expect(await shell.print(loginBlock!)).toMatch(/^sst_/);
    expect((await shell.run(loginBlock!)).stderr).toMatch(/once|before|used/);
  });

  test.each<[string, Record<string, unknown>, RegExp]>([
    ['a user who is not in the group', { groups: ['55555555-6666-4777-8888-999999999999'] }, /groups/],
    ['a user with too many groups', { groups: undefined, _claim_names: { groups: 'src1' } }, /groups/],
    ['an application', { scp: undefined, idtyp: 'app', azpacr: '1', roles: ['Reader'] }, /scp/],
    ['another program', { azp: ids.client }, /azp/],
    ['another application', { aud: '00000003-0000-0000-c000-000000000000' }, /aud/],
    ['another tenant', { iss: 'https://login.microsoftonline.com/other/v2.0', tid: 'other' }, /iss/],
  ])('a token of or for %s is refused', async (_, claims, reason) => {
    await signIn(claims);
    const { code, stdout, stderr } = await shell.run(loginBlock!);
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringMatching(reason)]);
  });
});

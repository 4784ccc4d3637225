import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { parse, parseAllDocuments } from 'yaml';
import { certificateOf } from '../../../../services/login/tests/kubernetes/cluster/certificate.ts';
import {
  type ClusterForTest,
  startCluster,
} from '../../../../services/login/tests/kubernetes/cluster/cluster-for-test.ts';
import { serverAudience } from '../../../../services/login/tests/kubernetes/cluster/service-account-tokens.ts';
import { expectStatus } from '../../../harness/http.ts';
import { type Installation, startInstallation } from '../../../harness/installation.ts';
import { describeClient } from '../../describe-client.ts';
import { clientFolder } from '../../install/install.ts';
import { CommandProcess } from '../../programs/pods/command-process.ts';
import { codeOf } from './code-blocks.ts';
import { kubectl } from './kubectl-of-page.ts';
import { PageShell } from './page-shell.ts';

const page = 'operations/workloads.md';
const [objects, jwtAuth] = codeOf(page, 'External Secrets', 'yaml');

describeClient('external-secrets', 'the SecretStore of docs/operations/workloads.md:', (folder) => {
  let cluster: ClusterForTest;
  let service: Installation;
  let shell: PageShell;

  beforeAll(async () => {
    const certificate = certificateOf();
    cluster = await startCluster(certificate);
    service = await startInstallation({ LOGIN_EGRESS_ALLOW: `127.0.0.1/32:${cluster.port}` });
    shell = new PageShell(join(clientFolder('openbao'), 'bin'), service.url);
    shell.addProgram('kubectl', kubectl(cluster.url));
    const write = (name: string, text: string) => writeFileSync(join(shell.home, name), text);
    write('cluster.pem', certificate.cert);
    write('reviewer.jwt', cluster.reviewerJwt);
    write('discovery.json', JSON.stringify({ issuer: serverAudience }));
    write('jwks.json', JSON.stringify({ keys: [cluster.authority.jwk] }));
    write('kubeconfig', kubeconfig(cluster.url, certificate.cert));
    expectStatus(await service.api('POST', 'sys/mounts/secret', { type: 'kv' }), 204);
    expectStatus(await service.api('POST', 'secret/data/shop/db', { data: { password: 'p' } }), 200);
    const [policy] = codeOf(page, 'Kubernetes workloads', 'sh');
    const [reviewed] = codeOf(page, 'TokenReview', 'sh');
    const role = codeOf(page, 'Published keys: AKS, EKS, GKE', 'sh')[0]!
      .split('\n')
      .filter((line) => !/^issuer=|auth\/cluster\/config/.test(line))
      .join('\n');
    const [keys] = codeOf(page, 'Keys without a connection', 'sh');
    for (const commands of [policy, reviewed, role, keys])
      await shell.print(commands!, { BAO_TOKEN: service.rootToken });
  });
  afterAll(async () => {
    shell?.discard();
    await service?.stop();
    await cluster?.stop();
  });

  const [given] = parseAllDocuments(objects!).map((one) => one.toJS());
  const auths: Record<string, object> = { kubernetes: given.spec.provider.vault.auth, jwt: parse(jwtAuth!) };

  test.each(Object.keys(auths))(
    'External Secrets accepts all its fields, and reads with %s',
    async (method) => {
      const store = structuredClone(given);
      Object.assign(store.spec.provider.vault, {
        server: service.url,
        auth: method === 'jwt' ? auths.jwt : auths.kubernetes,
      });
      const client = new CommandProcess(join(folder, 'external-secrets'), {
        PATH: process.env.PATH,
        HOME: shell.home,
        KUBECONFIG: join(shell.home, 'kubeconfig'),
        STORE: JSON.stringify(store),
      });
      try {
        expect(await client.result({ do: 'validate' })).toBe(0); // ready
        expect(await client.result({ do: 'get', key: 'shop/db', property: 'password' })).toBe('p');
      } finally {
        await client.end();
      }
    },
  );
});

const kubeconfig = (server: string, certificate: string): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'page',
        cluster: { server, 'certificate-authority-data': Buffer.from(certificate).toString('base64') },
      },
    ],
    users: [{ name: 'controller', user: {} }],
    contexts: [{ name: 'page', context: { cluster: 'page', user: 'controller' } }],
    'current-context': 'page',
  });

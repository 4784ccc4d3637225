import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { expectStatus } from '../../harness/http.ts';
import { type Installation, startInstallation } from '../../harness/installation.ts';
import { type ClientName, clientFolder, isInstalled } from '../install/install.ts';
import { mustRun } from '../run.ts';
import { playTasks } from './ansible/play-tasks.ts';
import { useAgent } from './bao-agent/use-agent.ts';
import { useConsulTemplate } from './consul-template/use-consul-template.ts';
import { type CountingProxy, isWrite, startCountingProxy } from './counting-proxy.ts';

/** Has a client make its calls. Throws if one of them does not return what its user expects. */
type Program = (folder: string, env: NodeJS.ProcessEnv) => Promise<unknown>;

const inJava =
  (program: string): Program =>
  (folder, env) =>
    mustRun('java', ['-cp', `${folder}:${join(folder, 'lib', '*')}`, program], { env });

/** One client, under the name of what has to be installed for it. */
const programs: { title: string; client: ClientName; run: Program }[] = [
  {
    title: 'hashi-vault-js',
    client: 'hashi-vault-js',
    run: (folder, env) => mustRun(process.execPath, [join(folder, 'client.mjs')], { env }),
  },
  {
    title: 'bao-agent',
    client: 'openbao',
    run: (folder, env) => useAgent(join(folder, 'bin', 'bao'), env),
  },
  {
    title: 'vault-client-go',
    client: 'vault-client-go',
    run: (folder, env) => mustRun(join(folder, 'client'), [], { env }),
  },
  {
    title: 'consul-template',
    client: 'consul-template',
    run: (folder, env) => useConsulTemplate(join(folder, 'consul-template'), env),
  },
  { title: 'spring-vault', client: 'java', run: inJava('SpringVault') },
  { title: 'vault-java-driver', client: 'java', run: inJava('JavaDriver') },
  { title: 'ansible', client: 'ansible', run: playTasks },
  {
    title: 'vaultrs',
    client: 'vaultrs',
    run: (folder, env) => mustRun(join(folder, 'client-vaultrs'), [], { env }),
  },
];

const policyFor = (mount: string) => `
  path "${mount}/data/*" { capabilities = ["read"] }
  path "${mount}/data/team/*" { capabilities = ["create", "read", "update"] }
  path "${mount}/metadata/*" { capabilities = ["read", "list"] }
  path "auth/token/create" { capabilities = ["update"] }
`;

describe('a program with an unmodified client', () => {
  const audience = 'https://secrets.example';
  let service: Installation;
  let proxy: CountingProxy;
  /** An identity of the directory, as the programs log in. */
  let oid: string;

  const write = async (path: string, body: object) => {
    const answer = await service.api('POST', path, body);
    return expectStatus(answer, answer.status === 204 ? 204 : 200);
  };

  beforeAll(async () => {
    service = await startInstallation();
    const directory = await service.sandbox.directory();
    oid = directory.identities[0]!.oid;
    await write('sys/auth/azure', { type: 'azure' });
    await write('auth/azure/config', { tenant_id: directory.tenant_id, resource: audience });
  });
  afterEach(() => proxy?.stop());
  afterAll(() => service?.stop());

  /** Creates a mount, a policy and a role, all with this name. Returns the environment of a program. */
  async function prepare(name: string): Promise<NodeJS.ProcessEnv> {
    await write(`sys/mounts/${name}`, { type: 'kv', options: { version: '2' } });
    await write(`sys/policies/acl/${name}`, { policy: policyFor(name) });
    await write(`auth/azure/role/${name}`, { policies: [name], bound_service_principal_ids: [oid] });
    const jwt = await service.sandbox.issueToken({ audience, oid });
    proxy = await startCountingProxy(service.url);
    const names = { MOUNT: name, POLICY: name, ROLE: name, JWT: jwt, SERVICE_URL: service.url };
    const address = { VAULT_ADDR: proxy.url, VAULT_TOKEN: service.rootToken };
    return { PATH: process.env.PATH, HOME: process.env.HOME, ...address, ...names };
  }

  for (const { title, client, run } of programs) {
    const rule = `${title} makes at least ten calls, some of which write`;
    if (!isInstalled(client)) test.skip(`${rule}: ${client} is not installed`, () => undefined);
    else
      test(rule, async () => {
        await run(clientFolder(client), await prepare(title));
        const writes = proxy.verbs.filter(isWrite);
        process.stdout.write(`calls: ${title}: ${proxy.verbs.length}, of which ${writes.length} write\n`);
        expect(proxy.verbs.length).toBeGreaterThanOrEqual(10);
        expect(writes.length).toBeGreaterThanOrEqual(1);
      });
  }
});

import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { type ClientName, clientFolder, isInstalled } from '../../install/install.ts';
import { isWrite } from '../counting-proxy.ts';
import { useAgentInPod } from './bao-agent/use-agent-in-pod.ts';
import { useCsiProviderRequests } from './csi-provider-requests/use-csi-provider-requests.ts';
import { useExternalSecrets } from './external-secrets/use-external-secrets.ts';
import { type PodHost, type Pods, startPodHost } from './pods.ts';
import { useVaultSecretsOperator } from './vault-secrets-operator/use-vault-secrets-operator.ts';

/** A client in a pod, under the name of what has to be installed for it. */
const clients: {
  title: string;
  client: ClientName;
  program: string;
  lifetime?: object;
  /** Whether its secrets are in a namespace of their own. */
  hasNamespace?: boolean;
  use: Use;
}[] = [
  {
    title: 'external-secrets',
    client: 'external-secrets',
    program: 'external-secrets',
    use: useExternalSecrets,
  },
  {
    title: 'bao-agent-in-pod',
    client: 'openbao',
    program: 'bin/bao',
    lifetime: { token_ttl: '6s', token_max_ttl: '16s' },
    use: useAgentInPod,
  },
  {
    title: 'csi-provider-requests',
    client: 'csi-provider-requests',
    program: 'csi-provider-requests',
    use: useCsiProviderRequests,
  },
  {
    title: 'vault-secrets-operator',
    client: 'vault-secrets-operator',
    program: 'vault-secrets-operator',
    hasNamespace: true,
    use: useVaultSecretsOperator,
  },
];

type Use = (program: string, pods: Pods) => Promise<void>;

describe('a client in a pod', () => {
  let host: PodHost;
  let pods: Pods | undefined;

  beforeAll(async () => {
    host = await startPodHost();
  });
  afterEach(() => pods?.stop());
  afterAll(() => host?.stop());

  for (const { title, client, program, lifetime, hasNamespace, use } of clients)
    for (const method of ['jwt', 'kubernetes']) {
      const rule = `${title} logs in with ${method}, follows a change, and survives a revocation and a restart`;
      if (!isInstalled(client)) test.skip(`${rule}: ${client} is not installed`, () => undefined);
      else
        test(rule, async () => {
          const name = `${title}-${method}`;
          const namespace = hasNamespace ? `of-${name}` : undefined;
          const current = await host.pods(method, name, {
            ...(lifetime && { lifetime }),
            ...(namespace && { namespace }),
          });
          pods = current;
          await use(join(clientFolder(client), program), current);
          const writes = current.verbs.filter(isWrite);
          process.stdout.write(
            `calls: ${title} with ${method}: ${current.verbs.length}, of which ${writes.length} write\n`,
          );
          expect(current.verbs.length).toBeGreaterThanOrEqual(10);
          expect(writes.length).toBeGreaterThanOrEqual(1);
        });
    }
});

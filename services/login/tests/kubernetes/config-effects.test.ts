import { expect, test } from '@jest/globals';
import { exportSPKI, generateKeyPair } from 'jose';
import type { kubernetesConfigFields } from '../../src/auth-methods/kubernetes/config/config-settings.ts';
import { certificateOf } from './cluster/certificate.ts';
import { useKubernetes } from './kubernetes-for-test.ts';

const { kubernetes, login, cluster } = useKubernetes();

const otherPem = async () =>
  (await exportSPKI((await generateKeyPair('RS256', { extractable: true })).publicKey)).trim();

/** Configurations of which the second has the field, and whose logins differ. */
const pairs: {
  [Field in keyof (typeof kubernetesConfigFields)['fields']]: () => Promise<[object, object]>;
} = {
  kubernetes_host: async () => [{}, { kubernetes_host: `${cluster.url}/below` }],
  kubernetes_ca_cert: async () => [{}, { kubernetes_ca_cert: certificateOf().cert }],
  token_reviewer_jwt: async () => [{}, { token_reviewer_jwt: cluster.reviewerJwt }],
  pem_keys: async () => [{}, { pem_keys: [await otherPem()] }],
  issuer: async () => [{}, { issuer: 'https://other.example' }],
  disable_iss_validation: async () => [
    { issuer: 'https://other.example' },
    { issuer: 'https://other.example', disable_iss_validation: true },
  ],
  disable_local_ca_jwt: async () => [{}, { disable_local_ca_jwt: true }],
};

// A field that nothing uses would be accepted, stored and shown, and change nothing.
test.each(Object.entries(pairs))('%s of a configuration is shown, and has an effect', async (field, pair) => {
  const outcome = async (body: object) => {
    cluster.reset();
    cluster.publish(true);
    await kubernetes.configure(body);
    const { status } = await kubernetes.logInAs();
    return [status, cluster.received.map(({ path }) => path)];
  };
  const [without, having] = await pair();
  const before = await outcome(without);
  const hasNone = field === 'disable_local_ca_jwt'; // the pod of login has nothing that is used
  if (hasNone) expect(await outcome(having)).toEqual(before);
  else if (field !== 'kubernetes_ca_cert') expect(await outcome(having)).not.toEqual(before);
  else await kubernetes.configure(having);
  const { data } = (await login.call('GET', '/auth/kubernetes/config')).body;
  if (field === 'token_reviewer_jwt') expect(data).toMatchObject({ token_reviewer_jwt_set: true });
  else expect(JSON.stringify(data[field])).toContain(JSON.stringify((having as never)[field]).slice(1, 40));
});

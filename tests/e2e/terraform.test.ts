import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { expectStatus } from '../harness/http.ts';
import { type Installation, startInstallation } from '../harness/installation.ts';

// The requests of HashiCorp's Terraform provider (https://registry.terraform.io/providers/hashicorp/vault), and what it
// concludes from the responses: it compares what it reads with what is configured, and for many fields, a difference
// deletes the object with its secrets.

let system: Installation;
beforeAll(async () => {
  system = await startInstallation();
});
afterAll(() => system?.stop());

type Fields = Record<string, unknown>;

const isEmpty = (value: unknown): boolean =>
  value === null ||
  ['', 0, false, undefined].includes(value as never) ||
  Object.keys(Object(value)).length === 0;

/**
 * Returns the fields that the next plan would change: those whose shown value differs from the configured one, and
 * those that are shown although they are not configured.
 */
const planned = (configured: Fields, shown: Fields, fields: readonly string[]): Fields =>
  Object.fromEntries(
    fields
      .map((field) => [field, { configured: configured[field], shown: shown[field] }] as const)
      .filter(([, { configured: one, shown: other }]) =>
        one === undefined ? !isEmpty(other) : JSON.stringify(one) !== JSON.stringify(other),
      ),
  );

/** Fields that the provider reads back, without those that it never compares. */
const network = [
  'allowed_ipv4_addresses',
  'allowed_ipv6_addresses',
  'allowed_ports',
  'disable_strict_networking',
];
const cloud = ['custom_tags', 'identity_token_ttl', ...network];
const open = { allowed_ports: [8443, 443], disable_strict_networking: true, granularity: 'secret-key' };

interface Resource {
  type: string;
  read: readonly string[];
  /** Credentials, and where the secrets are. */
  base(): Promise<Fields>;
  /** Options of the first apply, which the second one lacks. */
  options: Fields;
}

const resources: readonly Resource[] = [
  {
    type: 'aws-sm',
    read: ['region', 'role_arn', 'external_id', 'replica_regions', ...cloud],
    base: async () => ({ ...(await system.sandbox.credentials()), region: 'eu-west-1' }),
    options: {
      ...open,
      role_arn: 'arn:aws:iam::123456789012:role/Sync',
      external_id: 'x1',
      custom_tags: { team: 'a' },
      replica_regions: { 'us-east-2': 'alias/x' },
    },
  },
  {
    type: 'azure-kv',
    read: ['key_vault_uri', 'cloud', 'client_id', 'tenant_id', ...cloud],
    base: async () => {
      const { tenantId, clientId, clientSecret } = await system.sandbox.store('cloudB-kv');
      const app = { tenant_id: tenantId, client_id: clientId, client_secret: clientSecret };
      return { ...app, key_vault_uri: 'https://Sandbox.vault.azure.net/' };
    },
    options: { ...open, custom_tags: { team: 'a' } },
  },
  {
    type: 'gcp-sm',
    read: ['project_id', 'replication_locations', 'service_account_email', ...cloud],
    base: async () => ({ credentials: (await system.sandbox.store('cloudC-sm')).credentials }),
    options: { ...open, replication_locations: ['us-east4', 'europe-west1'], custom_tags: { team: 'a' } },
  },
  {
    type: 'gh',
    read: [
      'repository_owner',
      'repository_name',
      'environment_name',
      'secrets_location',
      'installation_id',
      'app_name',
      'organization_name',
      ...network,
    ],
    base: async () => ({
      access_token: (await system.sandbox.store('codehost')).accessToken,
      repository_owner: 'Acme',
      repository_name: 'web',
    }),
    options: open,
  },
  {
    type: 'vercel-project',
    read: ['project_id', 'team_id', 'deployment_environments', ...network],
    base: async () => {
      const { accessToken, projectId } = await system.sandbox.store('webhost-project');
      const environments = ['production', 'development'];
      return { access_token: accessToken, project_id: projectId, deployment_environments: environments };
    },
    options: open,
  },
];

describe.each(resources.map((resource) => [resource.type, resource] as const))(
  'a destination of type %s',
  (type, resource) => {
    const path = `sys/sync/destinations/${type}/main`;
    const api: Installation['api'] = (...call) => system.api(...call);
    const plan = async (configured: Fields) => {
      const {
        type: shownType,
        connection_details,
        options,
      } = expectStatus(await api('GET', path), 200).body.data;
      expect(shownType).toBe(type);
      return planned(configured, { ...connection_details, ...options }, resource.read);
    };

    test('is applied, changed and destroyed, with an empty plan after each apply', async () => {
      const base = await resource.base();
      const first = { ...base, ...resource.options };
      expectStatus(await api('PUT', path, first), 200);
      expect(await plan(first)).toEqual({});
      const shown = expectStatus(await api('GET', path), 200).body.data.options;
      const second = {
        ...base,
        secret_name_template: shown.secret_name_template,
        granularity: 'secret-path',
      };
      const { warnings } = expectStatus(await api('PUT', path, second), 200).body;
      expect(warnings).toEqual([expect.stringMatching(/^reset to the default.*allowed_ports/)]);
      expect(await plan(second)).toEqual({});
      expectStatus(await api('PUT', path, second), 200);
      expectStatus(await api('DELETE', path), 204);
    });
  },
);

/** Fields of a mount that the provider sends in each request, even if nothing is configured. */
const always = { default_lease_ttl: '0s', max_lease_ttl: '0s', force_no_cache: false, options: null };
const flags = { local: true, seal_wrap: true, external_entropy_access: true };
const lists = {
  audit_non_hmac_request_keys: ['b', 'a'],
  passthrough_request_headers: ['X-One'],
  allowed_response_headers: ['X-Two'],
};
const config = { ...lists, listing_visibility: 'unauth', identity_token_key: 'default' };

test.each([
  ['a mount', 'sys/mounts', 'kv-tf', { type: 'kv', options: { version: '2' } }, 'sys/mounts/kv-tf'],
  ['an auth mount', 'sys/auth', 'az-tf', { type: 'azure' }, 'sys/mounts/auth/az-tf'],
])(
  '%s is shown as it was applied, and tuned without being replaced',
  async (_what, folder, name, body, path) => {
    const read = async () => expectStatus(await system.api('GET', path), 200).body.data;
    const applied = { ...body, ...flags, description: 'd' };
    const leases = { default_lease_ttl: '60s', max_lease_ttl: '3600s' };
    expectStatus(
      await system.api('POST', `${folder}/${name}`, {
        ...applied,
        config: { ...always, ...config, ...leases },
      }),
      204,
    );
    const shown = await read();
    expect(shown).toMatchObject({
      ...applied,
      config: { ...config, default_lease_ttl: 60, max_lease_ttl: 3_600 },
    });
    const none = Object.fromEntries(Object.keys(lists).map((field) => [field, null]));
    expectStatus(
      await system.api('POST', `${path}/tune`, { ...always, ...none, listing_visibility: '' }),
      204,
    );
    const tuned = await read();
    expect(tuned).toMatchObject({ ...applied, accessor: shown.accessor });
    expect(
      planned({}, tuned.config, [
        ...Object.keys(lists),
        'listing_visibility',
        'default_lease_ttl',
        'max_lease_ttl',
      ]),
    ).toEqual({});
    expectStatus(await system.api('DELETE', `${folder}/${name}`), 204);
  },
);

test('the provider finds no namespace in its token that it would put before the namespaces of resources', async () => {
  const { data } = expectStatus(await system.api('GET', 'auth/token/lookup-self'), 200).body;
  expect(data).not.toHaveProperty('namespace_path');
});

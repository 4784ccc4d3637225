import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readHcl } from '../../services/login/src/policies/hcl/read-hcl.ts';
import { expectStatus } from '../harness/http.ts';
import { type Installation, startInstallation } from '../harness/installation.ts';

// Applies the example of docs/terraform.md as HashiCorp's provider does: with the requests that its resources make
// (https://github.com/hashicorp/terraform-provider-vault, folder `vault`), in the order of the page.

type Fields = Record<string, unknown>;

interface Block {
  type: string;
  name: string;
  fields: Fields;
}

interface Request {
  method: 'POST' | 'PUT' | 'DELETE';
  path: string;
  body?: Fields;
}

/** The requests of a resource. */
interface Resource {
  write(fields: Fields): Request;
  /** Where the provider reads the resource back; absent if it does not. */
  read?(fields: Fields): string;
  /** By default, `DELETE` of the path that is written. */
  destroy?(fields: Fields): Request;
  /** The fields that it compares then, with what was configured. */
  shown?(data: Fields): Fields;
  /** Values of the resource that others refer to, besides its fields. */
  computed?(fields: Fields, shown: Fields): Fields;
  compared?: readonly string[];
}

const without = (fields: Fields, ...names: string[]): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));

const destination = (type: string, compared: readonly string[]): Resource => {
  const path = ({ name }: Fields) => `sys/sync/destinations/${type}/${name}`;
  return {
    write: (fields) => ({ method: 'PUT', path: path(fields), body: without(fields, 'name') }),
    read: path,
    shown: ({ connection_details, options }) => {
      const { granularity_level: granularity, ...shown } = options as Fields;
      return { ...Object(connection_details), ...shown, granularity };
    },
    computed: () => ({ type }),
    compared: ['granularity', ...compared],
  };
};

const associationRequest = (act: 'set' | 'remove', { type, name, mount, secret_name }: Fields): Request => ({
  method: 'PUT',
  path: `sys/sync/destinations/${type}/${name}/associations/${act}`,
  body: { mount, secret_name },
});

const resources: Record<string, Resource> = {
  vault_mount: {
    write: ({ path, ...fields }) => ({ method: 'POST', path: `sys/mounts/${path}`, body: fields }),
    read: ({ path }) => `sys/mounts/${path}`,
    computed: (_fields, { accessor }) => ({ accessor }),
    compared: ['type', 'options'],
  },
  vault_kv_secret_v2: {
    write: ({ mount, name, data_json }) => ({
      method: 'PUT',
      path: `${mount}/data/${name}`,
      body: { data: data_json },
    }),
    read: ({ mount, name }) => `${mount}/data/${name}`,
    destroy: ({ mount, name }) => ({ method: 'DELETE', path: `${mount}/metadata/${name}` }),
    shown: ({ data }) => ({ data_json: data }),
    compared: ['data_json'],
  },
  vault_policy: {
    write: ({ name, policy }) => ({ method: 'PUT', path: `sys/policies/acl/${name}`, body: { policy } }),
    read: ({ name }) => `sys/policies/acl/${name}`,
    compared: ['name', 'policy'],
  },
  vault_auth_backend: {
    write: ({ type }) => ({ method: 'POST', path: `sys/auth/${type}`, body: { type, config: {} } }),
    read: ({ type }) => `sys/mounts/auth/${type}`,
    computed: ({ type }) => ({ path: type }),
    compared: ['type'],
  },
  vault_azure_auth_backend_config: {
    write: ({ backend, ...fields }) => ({ method: 'PUT', path: `auth/${backend}/config`, body: fields }),
    read: ({ backend }) => `auth/${backend}/config`,
    compared: ['tenant_id', 'resource', 'client_id'],
  },
  vault_azure_auth_backend_role: {
    write: ({ backend, role, ...fields }) => ({
      method: 'PUT',
      path: `auth/${backend}/role/${role}`,
      body: { ...fields, token_type: 'default' },
    }),
    read: ({ backend, role }) => `auth/${backend}/role/${role}`,
    compared: ['bound_subscription_ids', 'token_policies', 'token_ttl', 'token_type', 'token_max_ttl'],
  },
  vault_secrets_sync_aws_destination: destination('aws-sm', ['region', 'custom_tags']),
  vault_secrets_sync_azure_destination: destination('azure-kv', ['key_vault_uri', 'tenant_id', 'client_id']),
  vault_secrets_sync_gcp_destination: destination('gcp-sm', ['project_id']),
  vault_secrets_sync_gh_destination: destination('gh', ['repository_owner', 'repository_name']),
  vault_secrets_sync_vercel_destination: destination('vercel-project', [
    'project_id',
    'deployment_environments',
  ]),
  vault_secrets_sync_association: {
    write: (fields) => associationRequest('set', fields),
    destroy: (fields) => associationRequest('remove', fields),
  },
};

/** Fields that the provider fills in before it compares. */
const defaults: Record<string, Fields> = {
  vault_azure_auth_backend_role: { token_type: 'default', token_max_ttl: 0 },
};

/** The resources of the example. What refers to others stays as text: `${vault_mount.apps.path}`. */
function blocksOfExample(): Block[] {
  const page = readFileSync(new URL('../../docs/terraform.md', import.meta.url), 'utf8');
  const text = /```hcl\n(.*?)```/s
    .exec(page)![1]!
    .replace(/jsonencode\((.*)\)/g, '$1')
    .replace(/(?<=[=[] *)(?:var|vault_\w+)(?:\.\w+)+/g, (name) => `"\${${name}}"`);
  const { resource } = readHcl(text) as { resource: Record<string, Record<string, Fields[]>[]>[] };
  return resource.flatMap((one) =>
    Object.entries(one).flatMap(([type, named]) =>
      named.flatMap((byName) =>
        Object.entries(byName).map(([name, [fields]]) => ({ type, name, fields: plain(fields!) })),
      ),
    ),
  );
}

/** The parser returns each map as a list of one. */
const plain = (fields: Fields): Fields =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      Array.isArray(value) && typeof value[0] === 'object' ? value[0] : value,
    ]),
  );

let system: Installation;
beforeAll(async () => {
  system = await startInstallation();
});
afterAll(() => system?.stop());

async function variables(): Promise<Record<string, string>> {
  const { sandbox } = system;
  const aws = await sandbox.credentials();
  const [azure, gcp, github, vercel] = await Promise.all(
    ['cloudB-kv', 'cloudC-sm', 'codehost', 'webhost-project'].map((type) => sandbox.store(type)),
  );
  return {
    database_password: 'p',
    ...{ tenant_id: azure!.tenantId!, audience: 'https://management.azure.com/' },
    ...{ directory_client_id: azure!.clientId!, directory_client_secret: azure!.clientSecret! },
    subscription_id: '11111111-2222-3333-4444-555555555555',
    ...{ aws_access_key_id: aws.access_key_id, aws_secret_access_key: aws.secret_access_key },
    ...{ key_vault_uri: 'https://sandbox.vault.azure.net/', key_vault_tenant_id: azure!.tenantId! },
    ...{ key_vault_client_id: azure!.clientId!, key_vault_client_secret: azure!.clientSecret! },
    gcp_credentials: gcp!.credentials!,
    github_access_token: github!.accessToken!,
    ...{ vercel_access_token: vercel!.accessToken!, vercel_project_id: vercel!.projectId! },
  };
}

const reference = /\$\{([\w.]+)\}/g;

describe('the example of docs/terraform.md', () => {
  const blocks = blocksOfExample();
  const values: Record<string, unknown> = {};
  beforeAll(async () => {
    for (const [name, value] of Object.entries(await variables())) values[`var.${name}`] = value;
  });
  const resolved = (value: unknown): unknown =>
    JSON.parse(JSON.stringify(value), (_name, one) => (typeof one === 'string' ? filledIn(one) : one));
  const filledIn = (text: string): string =>
    text.replace(reference, (_all, name: string) => {
      if (values[name] === undefined) throw new Error(`nothing before this defines ${name}`);
      return String(values[name]);
    });

  test('has every resource for which requests are known', () => {
    expect(new Set(blocks.map(({ type }) => type))).toEqual(new Set(Object.keys(resources)));
  });

  test.each(blocks.map((block) => [`${block.type}.${block.name}`, block] as const))(
    '%s is applied, and the next plan is empty',
    async (address, { type, fields: written }) => {
      const { write, read, shown, computed, compared = [] } = resources[type]!;
      const fields = { ...(resolved(written) as Fields) };
      const { method, path, body } = write(fields);
      expect([200, 204]).toContain((await system.api(method, path, body)).status);
      let data: Fields = {};
      if (read !== undefined) data = expectStatus(await system.api('GET', read(fields)), 200).body.data;
      const readBack = shown?.(data) ?? data;
      const configured = { ...defaults[type], ...fields };
      for (const field of compared)
        if (field in configured) expect({ [field]: readBack[field] }).toEqual({ [field]: configured[field] });
      for (const [name, value] of Object.entries({ ...fields, ...computed?.(fields, data) }))
        values[`${address}.${name}`] = value;
    },
  );

  test('the secret is in the stores with which it is associated', async () => {
    for (const type of ['aws-sm', 'gh']) {
      const { body } = await system.api('GET', `sys/sync/destinations/${type}/main/associations`);
      const [status] = Object.values<Fields>(body.data.associated_secrets);
      expect(status).toMatchObject({ secret_name: 'shop/database', sync_status: 'SYNCED' });
    }
  });

  test('is destroyed in the reverse order', async () => {
    for (const { type, fields: written } of blocks.toReversed()) {
      const { write, destroy } = resources[type]!;
      const fields = resolved(written) as Fields;
      const { method, path, body } = destroy?.(fields) ?? { method: 'DELETE', path: write(fields).path };
      const { status, body: failure } = await system.api(method, path, body);
      if (status !== 200 && status !== 204) throw new Error(`${path}: ${status} ${JSON.stringify(failure)}`);
    }
  });
});

import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { expectStatus } from '../../../tests/harness/http.ts';
import { type Installation, startInstallation } from '../../../tests/harness/installation.ts';
import { SyncFixture } from '../../../tests/harness/sync-fixture.ts';

const people = ['operator', 'developer', 'auditor'] as const;
type Person = (typeof people)[number];

let system: Installation;
const tokens = {} as Record<Person, string>;
let destination: string;

beforeAll(async () => {
  system = await startInstallation();
  for (const mount of ['secret', 'other'])
    expectStatus(await system.api('POST', `sys/mounts/${mount}`, { type: 'kv' }), 204);
  for (const mount of ['secret', 'other'])
    expectStatus(await system.api('POST', `${mount}/data/shop/db`, { data: { password: 'x' } }), 200);
  const fixture = await SyncFixture.create(system);
  destination = `sys/sync/destinations/cloudA-sm/${fixture.destination}`;
  expectStatus(await system.api('POST', 'sys/auth/cloudB', { type: 'cloudB' }), 204);
  for (const name of people) {
    const created = await system.api('POST', 'auth/token/create', { policies: [name], no_parent: true });
    tokens[name] = expectStatus(created, 200).body.auth.client_token;
  }
});
afterAll(() => system?.stop());

test('npm start writes the policies as they are in the files', async () => {
  for (const name of people) {
    const file = new URL(`../../../docs/examples/policies/${name}.hcl`, import.meta.url);
    const { body } = await system.api('GET', `sys/policies/acl/${name}`);
    expect(body.data.policy.trim()).toBe(readFileSync(file, 'utf8').trim());
  }
});

/** Who may send a request: its marks are for the operator, the developer and the auditor. */
type Case = [marks: string, request: string, body?: object | undefined];

const policy = { policy: 'path "x" { capabilities = ["read"] }' };
const ofOther = { mount: 'other', secret_name: 'shop/db' };
const ofSecret = { mount: 'secret', secret_name: 'shop/db' };

/** A `+` is allowed, a `-` is refused. What `{d}` begins is below the destination. */
const cases: Case[] = [
  ['-+-', 'GET secret/data/shop/db'],
  ['---', 'GET other/data/shop/db'],
  ['-+-', 'GET secret/subkeys/shop/db'],
  ['---', 'GET other/subkeys/shop/db'],
  ['-+-', 'POST secret/data/shop/new', { data: { a: 'b' } }],
  ['---', 'POST other/data/shop/new', { data: { a: 'b' } }],
  ['-+-', 'PATCH secret/data/shop/db', { data: { a: 'b' } }],
  ['-+-', 'DELETE secret/data/shop/new'],
  ['-+-', 'POST secret/undelete/shop/new', { versions: [1] }],
  ['---', 'POST secret/destroy/shop/new', { versions: [1] }],
  ['---', 'DELETE secret/metadata/shop/new'],
  ['+++', 'LIST secret/metadata/shop/'],
  ['+-+', 'LIST other/metadata/shop/'],
  ['+++', 'GET secret/metadata/shop/db'],
  ['+-+', 'GET other/metadata/shop/db'],
  ['-+-', 'POST secret/metadata/shop/db', { max_versions: 5 }],
  ['+-+', 'GET sys/mounts'],
  ['+-+', 'GET sys/mounts/secret/tune'],
  ['+--', 'POST sys/mounts/third', { type: 'kv' }],
  ['+--', 'POST sys/mounts/third/tune', { description: 'd' }],
  ['+--', 'DELETE sys/mounts/third'],
  ['---', 'POST sys/mounts/auth/cloudB/tune', { description: 'd' }],
  ['+-+', 'LIST sys/policies/acl'],
  ['+-+', 'GET sys/policies/acl/developer'],
  ['+--', 'POST sys/policies/acl/mine', policy],
  ['+--', 'DELETE sys/policies/acl/mine'],
  ['---', 'POST sys/policies/acl/operator', policy],
  ['---', 'POST sys/policies/acl/OPERATOR', policy],
  ['---', 'POST sys/policy/operator', policy],
  ['---', 'POST sys/policies/acl/auditor', policy],
  ['---', 'POST sys/policies/acl/default', policy],
  ['---', 'POST sys/policy/Default', policy],
  ['---', 'DELETE sys/policies/acl/operator'],
  ['+-+', 'GET sys/auth'],
  ['---', 'POST sys/auth/jwt', { type: 'jwt' }],
  ['---', 'DELETE sys/auth/cloudB'],
  ['---', 'POST auth/cloudB/role/web', { policies: 'operator' }],
  ['---', 'POST identity/group', { name: 'g', policies: ['operator'] }],
  ['--+', 'LIST auth/token/accessors'],
  ['---', 'POST auth/token/create-orphan', {}],
  ['---', 'POST auth/token/create', { policies: ['root'] }],
  ['+-+', 'GET sys/audit'],
  ['+-+', 'POST sys/audit-hash/file', { input: 'x' }],
  ['+-+', 'GET sys/key-status'],
  ['---', 'POST sys/rotate', {}],
  ['+++', 'GET sys/sync/status'],
  ['+++', 'LIST sys/sync/destinations'],
  ['+++', 'GET {d}'],
  ['+--', 'PATCH {d}', { options: { custom_tags: { a: 'b' } } }],
  ['+--', 'POST {d}/check', {}],
  ['+-+', 'GET {d}/associations'],
  ['+-+', 'LIST sys/sync/associations'],
  ['+++', 'GET sys/sync/associations/secret/shop/db'],
  ['+-+', 'GET sys/sync/associations/other/shop/db'],
  ['-+-', 'POST {d}/associations/plan', ofSecret],
  ['-+-', 'POST {d}/associations/set', ofSecret],
  ['---', 'POST {d}/associations/plan', ofOther],
  ['---', 'POST {d}/associations/set', ofOther],
  ['++-', 'POST {d}/inspect', ofSecret],
  ['+--', 'POST {d}/inspect', {}],
  ['+--', 'POST {d}/associations/remove', ofOther],
  ['++-', 'POST {d}/associations/remove', ofSecret],
  ['+--', 'POST {d}/retry', {}],
  ['+--', 'PATCH sys/sync/config', { disabled: false }],
  ['+--', 'DELETE {d}'],
];

// Jest would take a missing third value for a callback.
test.each(cases.map(([marks, request, body]) => [marks, request, body] as const))(
  '%s: %s',
  async (marks, request, body) => {
    const [method = '', path = ''] = request.replace('{d}', destination).split(' ');
    const allowed: string[] = [];
    for (const name of people) {
      const { status } = await system.as(tokens[name])(method, path, body);
      allowed.push(status === 403 ? '-' : '+');
      if (status !== 403) expect([200, 202, 204, 404]).toContain(status);
    }
    expect(allowed.join('')).toBe(marks);
  },
);

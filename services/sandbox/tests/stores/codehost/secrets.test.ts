import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type CodehostHarness, sealedFor, startCodehost, web } from './codehost-harness.ts';

let codehost: CodehostHarness;
beforeAll(async () => {
  codehost = await startCodehost();
});
afterAll(() => codehost.stop());

const actions = () => codehost.octokit.rest.actions;
const stored = (name: string) => codehost.sandbox.codehost.secrets().find((secret) => secret.name === name);

describe('codehost 1: values are sealed for the public key of their scope', () => {
  test('a sealed value is stored, and the API never returns it', async () => {
    expect(await codehost.write('one', 'canary ☃')).toBe(201);
    expect(await codehost.write('ONE', 'canary two')).toBe(204);
    expect(stored('ONE')).toMatchObject({ region: 'acme/web', value: 'canary two', version_count: 2 });
    const { data: secret } = await actions().getRepoSecret({ ...web, secret_name: 'One' });
    const { data: list } = await actions().listRepoSecrets(web);
    expect(secret).toMatchObject({ name: 'ONE', created_at: expect.any(String) });
    expect(list.secrets).toEqual([secret]);
    expect(JSON.stringify([secret, list, codehost.sandbox.codehost.calls()])).not.toContain('canary');
  });

  test('a value sealed for another scope, or for a replaced key, is refused', async () => {
    const { data: api } = await actions().getRepoPublicKey({ owner: 'acme', repo: 'api' });
    const { data: own } = await actions().getRepoPublicKey(web);
    const write = async (key: string, key_id: string) =>
      actions().createOrUpdateRepoSecret({
        ...web,
        secret_name: 'SEALED',
        encrypted_value: await sealedFor(key, 'x'),
        key_id,
      });
    await expect(write(api.key, own.key_id)).rejects.toMatchObject({ status: 422 });
    await expect(write(api.key, api.key_id)).rejects.toMatchObject({ status: 422 });
    codehost.sandbox.codehost.rotateKeys();
    await expect(write(own.key, own.key_id)).rejects.toMatchObject({
      status: 422,
      message: expect.stringContaining('improperly encrypted secret'),
    });
  });
});

test.each([
  ['1A', /Must start with a letter/],
  ['A-B', /alphanumeric/],
  ['github_a', /must not start with GITHUB_/],
])('the name %s is refused', async (name, message) => {
  await expect(codehost.write(name, 'x')).rejects.toMatchObject({
    status: 422,
    message: expect.stringMatching(message),
  });
});

test('a value of more than 48 KB is refused', async () => {
  await codehost.write('LARGE', 'x'.repeat(49_152));
  await expect(codehost.write('LARGE', 'x'.repeat(49_153))).rejects.toMatchObject({ status: 422 });
});

test('codehost 4: an environment has its own secrets and key, and must exist', async () => {
  const environment = { ...web, environment_name: 'live / eu' };
  const key = () => actions().getEnvironmentPublicKey(environment);
  await expect(key()).rejects.toMatchObject({ status: 404 });
  await codehost.octokit.rest.repos.createOrUpdateEnvironment(environment);
  const { data } = await key();
  const encrypted_value = await sealedFor(data.key, 'live');
  const request = { ...environment, secret_name: 'IN_ENV', encrypted_value, key_id: data.key_id };
  expect((await actions().createOrUpdateEnvironmentSecret(request)).status).toBe(201);
  expect(stored('IN_ENV')).toMatchObject({ region: 'acme/web, environment live / eu', value: 'live' });
  await expect(actions().getRepoSecret({ ...web, secret_name: 'IN_ENV' })).rejects.toMatchObject({
    status: 404,
  });
  await actions().deleteEnvironmentSecret({ ...environment, secret_name: 'IN_ENV' });
  expect(stored('IN_ENV')).toBeUndefined();
});

test('codehost 7: the 101st secret of a repository is refused', async () => {
  const full = await startCodehost();
  for (let number = 1; number <= 100; number += 1) await full.write(`S${number}`, 'x');
  await expect(full.write('S101', 'x')).rejects.toMatchObject({ status: 422 });
  expect(await full.write('S100', 'y')).toBe(204);
  await full.stop();
});

test('codehost 9: deleting an absent secret returns 404, and lists have pages of at most 100', async () => {
  await expect(actions().deleteRepoSecret({ ...web, secret_name: 'NONE' })).rejects.toMatchObject({
    status: 404,
  });
  const repositories = Array.from({ length: 205 }, (_, number) => ({ owner: 'big', name: `r${number}` }));
  const big = await startCodehost({ repositories });
  const all = await big.octokit.paginate(big.octokit.rest.repos.listForOrg, { org: 'big', per_page: 1000 });
  expect(all.map(({ name }) => name)).toEqual(repositories.map(({ name }) => name));
  expect(big.sandbox.codehost.calls()).toHaveLength(3);
  await big.stop();
});

describe('codehost 3: who sees the secret of an organization', () => {
  const org = 'acme';
  const write = async (name: string, over: object) => {
    const { data } = await actions().getOrgPublicKey({ org });
    const sealed = { encrypted_value: await sealedFor(data.key, 'shared'), key_id: data.key_id };
    return codehost.octokit.request('PUT /orgs/{org}/actions/secrets/{secret_name}', {
      ...{ org, secret_name: name, ...sealed },
      ...(over as { visibility: 'all' }),
    });
  };
  const idOf = async (repo: string) => (await codehost.octokit.rest.repos.get({ owner: org, repo })).data.id;

  test('visibility is required, and a list of IDs that is omitted is cleared', async () => {
    await expect(write('SHARED', {})).rejects.toMatchObject({
      status: 422,
      message: expect.stringContaining('"visibility" wasn\'t supplied'),
    });
    const selected_repository_ids = [await idOf('web'), await idOf('api')];
    await write('SHARED', { visibility: 'selected', selected_repository_ids });
    expect(stored('SHARED')?.tags).toEqual({ visibility: 'selected', repositories: 'web, api' });
    await write('SHARED', { visibility: 'selected' });
    expect(stored('SHARED')?.tags).toEqual({ visibility: 'selected', repositories: '' });
  });

  test('the list can be replaced alone, and the visibility without a value', async () => {
    await write('LISTED', { visibility: 'selected' });
    const selected_repository_ids = [await idOf('docs')];
    const listed = { org, secret_name: 'LISTED' };
    await actions().setSelectedReposForOrgSecret({ ...listed, selected_repository_ids });
    const { data } = await actions().listSelectedReposForOrgSecret(listed);
    expect(data.repositories.map(({ name }) => name)).toEqual(['docs']);
    await codehost.octokit.request('PUT /orgs/{org}/actions/secrets/{secret_name}', {
      ...listed,
      visibility: 'all',
    } as never);
    expect(stored('LISTED')).toMatchObject({
      value: 'shared',
      version_count: 1,
      tags: { visibility: 'all' },
    });
    await expect(
      actions().setSelectedReposForOrgSecret({ ...listed, selected_repository_ids }),
    ).rejects.toMatchObject({ status: 409 });
  });

  test("another organization's repository cannot be selected", async () => {
    const ids = { visibility: 'selected', selected_repository_ids: [99] };
    await expect(write('OTHER', ids)).rejects.toMatchObject({ status: 422 });
  });
});

test('codehost 8: a renamed repository redirects reads with 301 and writes with 307', async () => {
  const renamed = await startCodehost();
  await renamed.write('KEPT', 'x');
  await renamed.octokit.rest.repos.update({ ...web, name: 'site' });
  const url = `${renamed.sandbox.codehostUrl}/repos/acme/web/actions/secrets/KEPT`;
  const headers = { authorization: `token ${renamed.sandbox.credentials.codehost.accessToken}` };
  const statusOf = async (method: string) =>
    (await fetch(url, { method, headers, redirect: 'manual' })).status;
  expect([await statusOf('GET'), await statusOf('DELETE')]).toEqual([301, 307]);
  const { data } = await renamed.octokit.rest.actions.getRepoSecret({ ...web, secret_name: 'KEPT' });
  expect(data.name).toBe('KEPT');
  await renamed.stop();
});

test('a deleted repository takes its secrets with it, and its ID is not used again, also after a restart', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sandbox-'));
  const options = { dataFile: join(folder, 'sandbox.jsonl') };
  const first = await startCodehost({}, options);
  await first.write('GONE', 'x');
  const newest = { owner: 'acme', repo: 'docs' };
  const { data: former } = await first.octokit.rest.repos.get(newest);
  for (const repository of [web, newest]) await first.octokit.rest.repos.delete(repository);
  expect(first.sandbox.codehost.secrets()).toEqual([]);
  await first.stop();
  for (const _ of ['replayed', 'compacted']) {
    const again = await startCodehost({}, options);
    await expect(again.octokit.rest.repos.get(web)).rejects.toMatchObject({ status: 404 });
    const { data: next } = await again.octokit.rest.repos.createInOrg({ org: 'acme', name: 'docs' });
    expect(next.id).toBeGreaterThan(former.id);
    await again.octokit.rest.repos.delete(newest);
    await again.stop();
  }
  rmSync(folder, { recursive: true });
});

test('an archived repository is read-only until it is unarchived', async () => {
  const { repos } = codehost.octokit.rest;
  const name = 'ARCHIVED';
  await codehost.write(name, 'x');
  await repos.update({ ...web, archived: true });
  const refused = {
    status: 403,
    message: expect.stringContaining('Repository was archived so is read-only'),
  };
  await expect(codehost.write(name, 'y')).rejects.toMatchObject(refused);
  await expect(actions().deleteRepoSecret({ ...web, secret_name: name })).rejects.toMatchObject(refused);
  const environment = { ...web, environment_name: 'production' };
  await expect(repos.createOrUpdateEnvironment(environment)).rejects.toMatchObject(refused);
  await expect(repos.update({ ...web, name: 'site' })).rejects.toMatchObject(refused);
  expect((await actions().getRepoSecret({ ...web, secret_name: name })).status).toBe(200);
  await repos.update({ ...web, archived: false });
  expect(await codehost.write(name, 'y')).toBe(204);
});

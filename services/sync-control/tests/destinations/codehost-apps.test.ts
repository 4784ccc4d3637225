import { createHash, createPublicKey, generateKeyPairSync, randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { cloudASm, codehost, connection, describeType, destinationTypes } from '@secrets/destinations';
import { testCaller } from '@secrets/http/testing';
import { z } from 'zod';
import { useSyncControl } from '../sync-control-for-test.ts';

/** A type whose destinations may use an application. */
const { derive: _, ...cloudA } = cloudASm;
const withApps = describeType({
  ...cloudA,
  type: 'with-apps',
  fields: {
    ...cloudASm.fields,
    app_name: connection(z.string(), { default: '', help: 'Name of the application.' }),
  },
  appField: 'app_name',
});
// own modules: adds to a declaration.
Object.assign(destinationTypes, { [withApps.type]: withApps });

const sync = useSyncControl();

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const pem = (type: 'pkcs1' | 'pkcs8') => String(privateKey.export({ type, format: 'pem' }));
const fingerprint = `SHA256:${createHash('sha256')
  .update(publicKey.export({ type: 'spki', format: 'der' }))
  .digest('base64')}`;

const list = '/sys/sync/codehost-apps';
const newName = () => `app-${randomUUID()}`;
const write = (name: string, fields: object = {}, caller = testCaller()) =>
  sync.call('POST', `${list}/${name}`, { app_id: '123', private_key: pem('pkcs1'), ...fields }, caller);
const newNamespace = async () => {
  const id = `n-${randomUUID()}`;
  await sync.db.query('insert into login.namespaces (id, path) values ($1, $1)', [id]);
  return testCaller({ namespace: { id, path: id } });
};

/** Creates a destination that uses an application. Returns its path. */
async function newUser(app: string): Promise<string> {
  const path = `/sys/sync/destinations/${withApps.type}/d-${randomUUID()}`;
  expect((await sync.call('POST', path, { app_name: app })).status).toBe(200);
  return path;
}

describe('POST sys/sync/codehost-apps/:name', () => {
  test('creates an application and returns it, with the private key masked', async () => {
    const name = newName();
    const { status, body } = await write(name);
    expect(status).toBe(200);
    expect(body).toMatchObject({ mount_type: 'system', warnings: null });
    expect(body.data).toEqual({
      ...{ app_id: 123, fingerprint, name, private_key: '*****' },
      enterprise_url: '',
    });
    const read = await sync.call('GET', `${list}/${name}`);
    expect(read.body).toMatchObject({ mount_type: 'system', data: body.data });
  });

  test.each(['pkcs1', 'pkcs8'] as const)('accepts a %s key, and an integer as app_id', async (type) => {
    const { body } = await write(newName(), { app_id: 7, private_key: pem(type) });
    expect(body.data).toMatchObject({ app_id: 7, fingerprint });
  });

  test('stores the private key encrypted', async () => {
    const name = newName();
    await write(name);
    const [row] = await sync.db.query<{ text: string }>(
      `select a::text || encode(sealed_private_key, 'escape') as text from sync.codehost_apps a where name = $1`,
      [name],
    );
    expect(row!.text).not.toContain('PRIVATE');
    expect(row!.text).not.toContain(pem('pkcs8').split('\n')[3]);
  });

  test('keeps the private key that is written back as the mask, and replaces another one', async () => {
    const name = newName();
    await write(name);
    const kept = await write(name, { app_id: 124, private_key: '*****' });
    expect(kept.body.data).toMatchObject({ app_id: 124, fingerprint });
    const other = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
    const { body } = await write(name, {
      private_key: String(other.export({ type: 'pkcs8', format: 'pem' })),
    });
    const der = createPublicKey(other).export({ type: 'spki', format: 'der' });
    expect(body.data.fingerprint).toBe(`SHA256:${createHash('sha256').update(der).digest('base64')}`);
  });

  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const short = generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey;
  const encrypted = privateKey.export({
    type: 'pkcs8',
    format: 'pem',
    cipher: 'aes-256-cbc',
    passphrase: 'p',
  });
  test.each([
    ['a text', 'canary-value'],
    ['an empty text', ''],
    ['a number', 5],
    ['the mask without a stored key', '*****'],
    ['a reference to a file', '@/etc/canary-value'],
    ['a public key', String(publicKey.export({ type: 'spki', format: 'pem' }))],
    ['an elliptic key', String(ec.export({ type: 'pkcs8', format: 'pem' }))],
    ['a key of 1024 bits', String(short.export({ type: 'pkcs1', format: 'pem' }))],
    ['a key with a passphrase', String(encrypted)],
    ['a damaged key', pem('pkcs1').replace(/\n.{10}/, '\ncanary-val')],
    ['a text that is too long', 'canary-value'.repeat(2_000)],
  ])('refuses %s as private_key with 400, without its content', async (_what, given) => {
    const { status, body } = await write(newName(), { private_key: given });
    expect([status, body.errors]).toEqual([400, [expect.stringMatching(/^private_key: /)]]);
    const lines = String(given).split('\n');
    for (const line of ['canary', lines[1] ?? 'canary']) expect(JSON.stringify(body)).not.toContain(line);
  });

  test.each([undefined, 'x', '', -1, 0, 1.5])('refuses %j as app_id with 400', async (given) => {
    const { status, body } = await write(newName(), { app_id: given });
    expect([status, body.errors]).toEqual([400, [expect.stringMatching(/^app_id\b/)]]);
  });

  test('needs `create` for a new application and `update` for an existing one', async () => {
    const name = newName();
    const as = (grant: 'create' | 'update') =>
      write(name, {}, testCaller({ policies: ['ci'], grants: [grant] }));
    expect((await as('update')).status).toBe(403);
    expect((await as('create')).status).toBe(200);
    expect((await as('create')).status).toBe(403);
    expect((await as('update')).status).toBe(200);
  });

  test('makes workers connect again, and retries what has failed in the destinations that use it', async () => {
    const name = newName();
    await write(name);
    const path = await newUser(name);
    const [before] = await destination(path);
    await write(name, { private_key: '*****' });
    const [after] = await destination(path);
    expect(after!.revision).not.toBe(before!.revision);
    expect([before!.retry, after!.retry]).toEqual([null, expect.any(Date)]);
  });

  test('ends the pause of the destinations that use it', async () => {
    const name = newName();
    await write(name);
    const [{ id } = { id: '' }] = await destination(await newUser(name));
    await sync.db.query(
      `insert into sync.destination_health (destination_id, destination_type, failures, paused_until, reason)
       values ($1, $2, 3, now() + interval '1 hour', 'unauthenticated')`,
      [id, withApps.type],
    );
    await write(name);
    const paused = await sync.db.query(
      'select from sync.destination_health where destination_id = $1 and paused_until > now()',
      [id],
    );
    expect(paused).toEqual([]);
  });

  const destination = (path: string) =>
    sync.db.query<{ id: string; revision: number; retry: Date | null }>(
      'select id, revision, retry_initiated_at as retry from sync.destinations where name = $1',
      [path.split('/').at(-1)],
    );
});

describe('GET and LIST sys/sync/codehost-apps', () => {
  test('an application is found only in its namespace', async () => {
    const [here, there] = [await newNamespace(), await newNamespace()];
    const read = (caller: typeof here) => sync.call('GET', `${list}/a`, undefined, caller);
    await write('a', {}, here);
    expect((await read(here)).status).toBe(200);
    const { status, body } = await read(there);
    expect([status, body]).toEqual([404, { errors: [] }]);
    expect((await write('a', { app_id: 9 }, there)).body.data.app_id).toBe(9);
    expect((await read(here)).body.data.app_id).toBe(123);
  });

  test('returns the names in pages, and 404 if there are none', async () => {
    const caller = await newNamespace();
    const names = (query: string) => sync.call('LIST', `${list}${query}`, undefined, caller);
    expect((await names('')).status).toBe(404);
    for (const name of ['c', 'a', 'b']) await write(name, {}, caller);
    expect((await names('')).body).toMatchObject({ mount_type: 'system', data: { keys: ['a', 'b', 'c'] } });
    const page = await names('?limit=2');
    expect(page.body.data.keys).toEqual(['a', 'b']);
    expect(page.body.warnings).toEqual([expect.stringMatching(/ after=b$/)]);
    expect((await names('?after=b')).body.data.keys).toEqual(['c']);
  });
});

describe('a destination that names an application', () => {
  test('is refused with 400 if its namespace has no such application', async () => {
    const path = `/sys/sync/destinations/${withApps.type}/d-${randomUUID()}`;
    const name = newName();
    await write(name);
    const refused = async (fields: object, caller = testCaller()) => {
      const { status, body } = await sync.call('POST', path, fields, caller);
      expect([status, body.errors]).toEqual([400, [expect.stringMatching(/^app_name: /)]]);
    };
    await refused({ app_name: 'other' });
    await refused({ app_name: name }, await newNamespace());
    expect((await sync.call('POST', path, { app_name: name })).status).toBe(200);
    await refused({ app_name: 'other' });
  });
});

describe('the server of an application', () => {
  const server = 'https://git.example.com';

  test('is the public service by default, and is shown in its only spelling', async () => {
    const name = newName();
    expect((await write(name)).body.data.enterprise_url).toBe('');
    const own = newName();
    const { body } = await write(own, { enterprise_url: 'https://Git.example.com:443/' });
    expect(body.data.enterprise_url).toBe(server);
    expect((await sync.call('GET', `${list}/${own}`)).body.data.enterprise_url).toBe(server);
  });

  test.each(['http://git.example.com', 'https://git.example.com/api', 'canary', 5])(
    'is refused with 400 as %j',
    async (enterprise_url) => {
      const { status, body } = await write(newName(), { enterprise_url });
      expect([status, body.errors]).toEqual([400, [expect.stringMatching(/^enterprise_url: must be/)]]);
    },
  );

  test('cannot be changed, not with another private key either; a write that omits it keeps it', async () => {
    const name = newName();
    await write(name, { enterprise_url: server });
    for (const [enterprise_url, shown] of [
      ['https://evil.example', 'https://evil.example'],
      ['', 'the public service'],
    ]) {
      for (const private_key of ['*****', pem('pkcs8')]) {
        const { status, body } = await write(name, { enterprise_url, private_key });
        const sentence = `enterprise_url: this application is for ${server}, which cannot be changed to ${shown}; create another application`;
        expect([status, body.errors]).toEqual([400, [sentence]]);
      }
    }
    for (const fields of [{}, { enterprise_url: null }, { enterprise_url: `${server}/` }])
      expect((await write(name, fields)).body.data.enterprise_url).toBe(server);
  });

  const save = (path: string, fields: object, verb = 'POST') =>
    sync.call(verb, path, {
      ...{ repository_owner: 'acme', repository_name: 'web', installation_id: 7 },
      ...fields,
    });
  const newPath = () => `/sys/sync/destinations/${codehost.type}/d-${randomUUID()}`;

  test.each([
    [undefined, 'https://evil.example', 'the public service', 'https://evil.example'],
    [server, 'https://evil.example', server, 'https://evil.example'],
    [server, undefined, server, 'the public service'],
  ])(
    'that is %j is not that of a destination with enterprise_url %j: 400, which names both',
    async (ofApp, ofDestination, app, destination) => {
      const name = newName();
      await write(name, { enterprise_url: ofApp });
      const path = newPath();
      const { status, body } = await save(path, { app_name: name, enterprise_url: ofDestination });
      const sentence = `enterprise_url: this destination is at ${destination}, and the application ${name} is for ${app}`;
      expect([status, body.errors]).toEqual([400, [sentence]]);
      expect((await sync.call('GET', path)).status).toBe(404);
    },
  );

  test('is checked again when a destination changes its application', async () => {
    const [name, other] = [newName(), newName()];
    await write(name, { enterprise_url: server });
    await write(other);
    const path = newPath();
    expect((await save(path, { app_name: name, enterprise_url: `${server}/` })).status).toBe(200);
    const { status, body } = await save(path, { app_name: other }, 'PATCH');
    expect([status, body.errors]).toEqual([400, [expect.stringMatching(/^enterprise_url: /)]]);
  });
});

describe('DELETE sys/sync/codehost-apps/:name', () => {
  const remove = (name: string) => sync.call('DELETE', `${list}/${name}`);

  test('returns 204, also if the application does not exist', async () => {
    const name = newName();
    await write(name);
    expect((await remove(name)).status).toBe(204);
    expect((await sync.call('GET', `${list}/${name}`)).status).toBe(404);
    expect((await remove(name)).status).toBe(204);
  });

  test('returns 409 with the destinations that use it, until none does', async () => {
    const name = newName();
    await write(name);
    const [a, b, c] = [await newUser(name), await newUser(name), await newUser(name)];
    const { status, body } = await remove(name);
    expect(status).toBe(409);
    for (const path of [a, b, c]) expect(body.errors[0]).toContain(path.split('/').slice(-2).join('/'));
    await sync.call('DELETE', a);
    await sync.call('DELETE', `${b}?force_delete=true`);
    expect((await remove(name)).status).toBe(409);
    await sync.call('PATCH', c, { app_name: null });
    expect((await remove(name)).status).toBe(204);
  });

  test('never succeeds while a destination begins to use it', async () => {
    for (let round = 0; round < 10; round += 1) {
      const name = newName();
      await write(name);
      const path = `/sys/sync/destinations/${withApps.type}/d-${randomUUID()}`;
      const [created, removed] = await Promise.all([
        sync.call('POST', path, { app_name: name }),
        remove(name),
      ]);
      expect([
        [200, 409],
        [400, 204],
      ]).toContainEqual([created.status, removed.status]);
    }
  });
});

test('a namespace that holds an application cannot be deleted', async () => {
  const caller = await newNamespace();
  await write('a', {}, caller);
  await expect(
    sync.db.query('delete from login.namespaces where id = $1', [caller.namespace.id]),
  ).rejects.toMatchObject({ schema: 'sync', table: 'codehost_apps' });
});

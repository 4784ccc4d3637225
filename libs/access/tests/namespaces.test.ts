import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { incrementEpoch } from '../src/testing.ts';
import { type AccessForTest, denied, openAccessForTest } from './access-for-test.ts';

// A specification: one line per case, with the token, the request, its header and the place or the verdict.

let access: AccessForTest;
let tokens: Record<'none' | 'root' | 'reader' | 'of team', string | undefined>;
beforeAll(async () => {
  access = await openAccessForTest();
  tokens = {
    none: undefined,
    root: await access.token(),
    reader: await access.tokenWith('kv/data/* read; team/kv/data/* read'),
    'of team': await access.tokenWith(
      'kv/data/* read; inner/kv/data/* read; auth/token/lookup-self read',
      'n1',
    ),
  };
});
afterAll(() => access.db.close());

const elsewhere = 'forbidden: sys/sync/config is available only in the root and the administrative namespace';
const missing = 'not_found: namespace nowhere does not exist';
const malformed = 'invalid: X-Service-Namespace must not contain empty, . or .. segments';
const ui = 'sys/internal/ui/mounts/kv/a';

const specify = (
  ...cases: [token: keyof typeof tokens, request: string, header: string | undefined, place: string][]
) =>
  test.each(cases)('%s: %s in %s is %s', async (token, request, namespace, place) => {
    expect(await access.place(request, { token: tokens[token], namespace })).toBe(place);
  });

describe('a token is valid in its namespace and below, with policies on paths relative to its own', () => {
  specify(
    ['of team', 'GET kv/data/a', 'team', 'team: kv/data/a'],
    ['of team', 'GET kv/data/a', 'team/inner/', 'team/inner: kv/data/a'],
    ['of team', 'GET kv/data/a', undefined, denied],
    ['of team', 'GET kv/data/a', 'root', denied],
    ['of team', 'GET kv/data/a', 'other', denied],
    ['of team', 'GET kv/data/a', 'admin', denied],
    ['of team', 'GET kv/data/a', 'tea', denied],
    ['of team', 'GET kv/data/a', 'team2', denied],
    ['reader', 'GET kv/data/a', undefined, ': kv/data/a'],
    ['reader', 'GET kv/data/a', 'team', 'team: kv/data/a'],
    ['reader', 'GET kv/metadata/a', 'team', denied],
    ['reader', 'GET kv/data/a', 'other', denied],
  );
});

describe('a path may begin with a namespace, and is decided as with the header', () => {
  specify(
    ['root', 'GET team/kv/data/a', undefined, 'team: kv/data/a'],
    ['root', 'GET team/inner/kv/data/a', undefined, 'team/inner: kv/data/a'],
    ['root', 'GET team/sys/mounts/kv', undefined, 'team: sys/mounts/kv'],
    ['root', 'GET inner/kv/data/a', 'team', 'team/inner: kv/data/a'],
    ['root', 'GET team/kv/data/a', 'team/', 'team: team/kv/data/a'],
    ['root', 'GET inner/kv/data/a', undefined, ': inner/kv/data/a'],
    ['root', 'GET kv/data/team/kv/data/a', undefined, ': kv/data/team/kv/data/a'],
    ['root', 'GET team', undefined, ': team'],
    ['root', 'GET teams/kv/data/a', undefined, ': teams/kv/data/a'],
    ['root', 'GET sys/mounts/team/kv', undefined, ': sys/mounts/team/kv'],
    ['reader', 'GET team/kv/data/a', undefined, 'team: kv/data/a'],
    ['reader', 'GET team/kv/metadata/a', undefined, denied],
    ['of team', 'GET team/kv/data/a', undefined, 'team: kv/data/a'],
    ['none', 'POST team/auth/cloudB/login', undefined, 'team: auth/cloudB/login'],
    ['none', 'POST auth/cloudB/login', 'team', 'team: auth/cloudB/login'],
  );
});

describe('only who may do something there learns that a namespace does not exist', () => {
  specify(
    ['root', 'GET kv/data/a', 'nowhere', missing],
    ['reader', 'GET kv/data/a', 'nowhere', denied],
    ['reader', `GET ${ui}`, 'nowhere', denied],
    ['none', 'GET kv/data/a', 'nowhere', denied],
    ['none', 'POST auth/cloudB/login', 'nowhere', denied],
    ['none', 'GET sys/internal/ui/mounts', 'team', 'team: sys/internal/ui/mounts'],
    ['none', 'GET sys/internal/ui/mounts', 'nowhere', 'nowhere: sys/internal/ui/mounts'],
    ['none', 'GET team/sys/internal/ui/mounts', undefined, denied],
    ['none', 'GET sys/internal/specs/openapi', 'team', ': sys/internal/specs/openapi'],
    ['none', 'GET sys/internal/specs/openapi', 'nowhere', ': sys/internal/specs/openapi'],
    [
      'none',
      'GET identity/oidc/plugins/.well-known/keys',
      'nowhere',
      ': identity/oidc/plugins/.well-known/keys',
    ],
    ['none', 'GET sys/seal-status', 'nowhere', ': sys/seal-status'],
    ['none', 'GET team/sys/seal-status', undefined, denied],
    ['none', 'GET nowhere/sys/seal-status', undefined, denied],
    ['none', 'GET team/sys/internal/specs/openapi', undefined, denied],
    ['root', 'GET kv/data/a', 'a//b', malformed],
    ['none', 'GET kv/data/a', 'a//b', malformed],
    ['none', 'GET sys/seal-status', 'a//b', malformed],
  );
});

describe('some paths are of certain namespaces', () => {
  specify(
    ['root', 'GET sys/sync/config', undefined, ': sys/sync/config'],
    ['root', 'GET sys/sync/config', 'admin/', 'admin: sys/sync/config'],
    ['root', 'GET sys/sync/config', 'team', elsewhere],
    ['root', 'GET team/sys/sync/config', undefined, elsewhere],
    ['reader', 'GET sys/sync/config', 'team', denied],
    ['of team', 'GET auth/token/lookup-self', undefined, 'team: auth/token/lookup-self'],
    ['of team', 'GET auth/token/lookup-self', 'team', 'team: auth/token/lookup-self'],
    ['of team', 'GET auth/token/lookup-self', 'team/inner', 'team: auth/token/lookup-self'],
    ['of team', 'GET auth/token/lookup-self', 'admin', 'team: auth/token/lookup-self'],
    ['root', 'GET team/auth/token/lookup-self', undefined, ': auth/token/lookup-self'],
    ['reader', `GET ${ui}`, undefined, `: ${ui}`],
    ['of team', `GET ${ui}`, undefined, denied],
  );
});

test('creating and deleting a namespace applies to the next request, named in the header or the path', async () => {
  const authenticator = access.newAuthenticator();
  const place = (request: string, namespace?: string) =>
    access.place(request, { token: tokens.root, namespace }, authenticator);
  for (let round = 0; round < 2; round += 1) {
    expect(await place('GET kv/data/a', 'late')).toBe('not_found: namespace late does not exist');
    expect(await place('GET late/kv/data/a')).toBe(': late/kv/data/a');
    await access.db.query("insert into login.namespaces (id, path) values ($1, 'late')", [`late${round}`]);
    expect(await place('GET kv/data/a', 'late')).toBe('late: kv/data/a');
    await incrementEpoch(access.db);
    expect(await place('GET late/kv/data/a')).toBe('late: kv/data/a');
    await access.db.query("delete from login.namespaces where path = 'late'");
    await incrementEpoch(access.db);
  }
});

test('a path costs no statement once its namespace is known, and neither does one without', async () => {
  const authenticator = access.newAuthenticator();
  const paths = ['GET kv/data/a', 'GET team/inner/kv/data/a'];
  for (const path of paths) await access.place(path, { token: tokens.root }, authenticator);
  access.statements = [];
  for (const path of paths) await access.place(path, { token: tokens.root }, authenticator);
  await access.place('GET inner/kv/data/a', { token: tokens.root, namespace: 'team' }, authenticator);
  expect(access.statements).toEqual(Array(3).fill(expect.stringContaining('from login.access_epoch')));
});

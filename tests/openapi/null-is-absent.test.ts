import { expect, test } from '@jest/globals';
import { tunedMountLists } from '../../libs/domain/src/index.ts';
import { shapeOf } from '../../libs/http/src/endpoint/input/object-shape.ts';
import { type EndpointDescription, parseLeniently } from '../../libs/http/src/index.ts';
import { createAuthMethods } from '../../services/login/src/auth-methods/registry.ts';
import { allEndpoints as endpointsOfLogin } from '../../services/login/src/routes/all.ts';
import { allEndpoints as endpointsOfSecrets } from '../../services/secrets/src/routes/all.ts';
import { allEndpoints as endpointsOfSyncControl } from '../../services/sync-control/src/routes/all.ts';

// The handlers are not called, so that the endpoints need no working context.
const methods = createAuthMethods({ log: { child: () => undefined } } as never, {});
const endpoints = [
  ...endpointsOfLogin({ methods } as never, {} as never),
  ...endpointsOfSecrets({} as never, {} as never),
  ...endpointsOfSyncControl({} as never, {} as never, {}),
].flatMap((endpoint): readonly EndpointDescription[] => endpoint.describedAs ?? [endpoint]);

const named = (given: readonly EndpointDescription[]) =>
  given
    .filter(({ body }) => shapeOf(body) !== undefined)
    .map((endpoint) => [`${endpoint.method.toUpperCase()} ${endpoint.path}`, endpoint.body!] as const);

type Schema = NonNullable<EndpointDescription['body']>;

/** The destinations of one type: null restores the default of a field, as in a merge patch (docs/conventions/http.md#bodies). */
const isDestination = ({ path }: EndpointDescription) =>
  /^\/sys\/sync\/destinations\/[^:]+\/:name$/.test(path);
const writes = named(endpoints.filter((endpoint) => endpoint.method !== 'patch' && !isDestination(endpoint)));
const patches = named(
  endpoints.filter((endpoint) => endpoint.method === 'patch' && !isDestination(endpoint)),
);

/** Fields in which null has a meaning of its own. */
const meaningful = [
  'POST /:mount/metadata/*path custom_metadata',
  'POST /sys/namespaces/*path custom_metadata',
  ...['/sys/auth/*path/tune', '/sys/mounts/auth/*path/tune', '/sys/mounts/*path/tune'].flatMap((path) =>
    Object.keys(tunedMountLists).map((field) => `POST ${path} ${field}`),
  ),
];

test('there are endpoints to be checked', () => {
  expect([writes.length, patches.length]).toEqual([expect.any(Number), expect.any(Number)]);
  expect(writes.length).toBeGreaterThan(30);
  expect(patches.length).toBeGreaterThanOrEqual(4);
});

test.each(writes)('%s takes null for an absent field, in nested objects too', (name, body) => {
  for (const [field, schema] of optionalFields(body)) {
    if (meaningful.includes(`${name} ${field}`)) continue;
    expect([field, outcome(body, { [field]: null })]).toEqual([field, outcome(body, {})]);
    const inner = Object.fromEntries(optionalFields(schema).map(([nested]) => [nested, null]));
    if (Object.keys(inner).length > 0)
      expect([field, outcome(body, { [field]: inner })]).toEqual([field, outcome(body, { [field]: {} })]);
  }
});

test.each(patches)('%s takes null for a value in every field of the object that it patches', (name, body) => {
  for (const [field, schema] of optionalFields(body)) {
    if (`${name} ${field}` === 'PATCH /:mount/data/*path options') continue; // an option, and no part of the patch
    expect([field, schema.safeParse(null).success]).toEqual([field, true]);
  }
});

test.each(writes)(
  '%s takes an empty text in an optional field that is no text for an absent one, or for 0',
  (_name, body) => {
    for (const [field] of optionalFields(body)) {
      if (lists.includes(field)) continue;
      const given = outcome(body, { [field]: '' });
      expect([field, String(given)]).toEqual([field, expect.not.stringContaining(`${field}:`)]);
    }
  },
);

/** Lists that must not be empty: without one, all messages would be discarded. */
const lists = ['message_ids', 'secrets'];

function optionalFields(schema: unknown): [string, Schema][] {
  const shape = (shapeOf(schema) ?? {}) as Record<string, Schema>;
  return Object.entries(shape).filter(([, field]) => field.safeParse(undefined).success);
}

/** Returns the parsed body, or the reason for which it is refused. */
function outcome(schema: Schema, body: unknown): unknown {
  try {
    return parseLeniently(schema, body);
  } catch (error) {
    return String(error);
  }
}

import type { Caller } from '@secrets/caller';
import {
  builtInPlugin,
  changedAttributes,
  type MountAttributesChange,
  mountAttributesIn,
  mountConfigFields,
  mountFlags,
  mountOptions,
  pluginNamed,
  presentMountConfig,
  presentMountFlags,
  trimSlashes,
  tunedMountLists,
  tunedSeconds,
  withoutNul,
} from '@secrets/domain';
import { cutToPage, type Endpoint, endpoint, pageQuery, type Request, requireNonEmpty } from '@secrets/http';
import { z } from 'zod';
import { createAuthMount } from '../auth-mounts/create-auth-mount.ts';
import { removeAuthMount } from '../auth-mounts/remove-auth-mount.ts';
import { requireAuthMount } from '../auth-mounts/require-auth-mount.ts';
import { tuneAuthMount } from '../auth-mounts/tune-auth-mount.ts';
import type { Context } from '../context.ts';
import { type AuthMountRow, type LeaseLimits, listAuthMountRows } from '../queries/auth-mounts.ts';
import { effectiveLimits } from '../tokens/token-lifetime.ts';

const Page = pageQuery({ max: 10_000 });
const segment = '[A-Za-z0-9_][A-Za-z0-9_.-]{0,60}';
const AuthMountParams = z.object({
  path: z
    .string()
    .transform(trimSlashes)
    .meta({ pattern: `^${segment}(?:/${segment}){0,2}$`, maxLength: 256 }),
});
const description = z.string().max(1_024).meta(withoutNul);
/** At most 768 h, which `tuneAuthMount` checks. */
const lease = tunedSeconds;
const limits = { default_lease_ttl: lease, max_lease_ttl: lease };
/** The others would say that a mount issues tokens that it does not: the role decides. */
const tokenType = z
  .enum(['', 'default-service'], { error: 'must be default-service; set token_type of the roles' })
  .optional();
const authMountBody = (types: string[]) =>
  z.object({
    type: z.string().meta({ enum: types }),
    plugin_name: pluginNamed(...types),
    description: description.default(''),
    options: mountOptions.optional(),
    config: z
      .object({ ...limits, token_type: tokenType, ...mountConfigFields, options: mountOptions.optional() })
      .optional(),
    ...mountFlags,
  });
const TuneBody = z.object({
  description: description.optional(),
  ...limits,
  token_type: tokenType,
  ...mountConfigFields,
  ...tunedMountLists,
  options: mountOptions.optional(),
});

const basePath = '/sys/auth';
const path = `${basePath}/*path`;
/** Clients use the second one, by which an auth mount can be tuned without `sudo`. */
const tunePaths = [`${path}/tune`, '/sys/mounts/auth/*path/tune'];
/** Clients read an auth mount as if it were a mount. */
const readPaths = [path, '/sys/mounts/auth/*path'];

/** `sys/auth/<path>` (docs/conventions/access.md#auth-mounts). */
export const authMountEndpoints = (context: Context): Endpoint[] => [
  listAuthMounts(context),
  readAuthMounts(context),
  ...readPaths.map((path) => readAuthMount(context, path)),
  ...tunePaths.map((path) => readTuning(context, path)),
  enableAuthMount(context),
  ...tunePaths.map((path) => tune(context, path)),
  disableAuthMount(context),
];

/** The types of auth mounts, by all of their names. */
const typesOf = ({ methods }: Context): string[] =>
  methods.all.flatMap(({ type, alternativeType = type }) => [...new Set([type, alternativeType])]);

const listAuthMounts = (context: Context) =>
  endpoint({
    method: 'list',
    path: basePath,
    summary: 'List the auth mounts of this namespace',
    query: Page,
    handle: async (request) => {
      const mounts = requireNonEmpty(await pageOfMounts(context, request));
      return { data: { keys: mounts.map(([key]) => key), key_info: Object.fromEntries(mounts) } };
    },
  });

const readAuthMounts = (context: Context) =>
  endpoint({
    method: 'get',
    path: basePath,
    summary: 'Read the auth mounts of this namespace',
    query: Page,
    handle: async (request) => ({ data: Object.fromEntries(await pageOfMounts(context, request)) }),
  });

const readAuthMount = (context: Context, readPath: string) =>
  endpoint({
    method: 'get',
    path: readPath,
    summary: 'Read an auth mount',
    params: AuthMountParams,
    handle: async ({ params, caller }) => {
      const mount = await requireAnyMount(context, caller, params.path);
      return { data: { ...presentAuthMount(mount), path: keyOf(mount) } };
    },
  });

const enableAuthMount = (context: Context) =>
  endpoint({
    method: 'post',
    path,
    summary: 'Enable an auth mount at a path',
    access: { needsSudo: true },
    needs: 'create or update',
    params: AuthMountParams,
    body: authMountBody(typesOf(context)),
    handle: async ({ params, body, caller }) => {
      const { config = {}, type, description } = body;
      const { defaultLeaseSeconds = 0, maxLeaseSeconds = 0 } = limitsIn(config);
      const attributes = changedAttributes({}, attributesIn({ options: config.options, ...body }, config));
      const mount = { type, description, defaultLeaseSeconds, maxLeaseSeconds, attributes };
      await createAuthMount(context, caller, { path: params.path, ...mount });
    },
  });

const readTuning = (context: Context, tunePath: string) =>
  endpoint({
    method: 'get',
    path: tunePath,
    summary: 'Read the settings of an auth mount as they apply',
    params: AuthMountParams,
    handle: async ({ params, caller }) => {
      const mount = await requireAnyMount(context, caller, params.path);
      return {
        data: {
          description: mount.description,
          ...presentConfig({ ...mount, ...effectiveLimits(mount) }),
          options: mount.attributes.options ?? {},
          ...presentMountFlags(mount.attributes),
        },
      };
    },
  });

const tune = (context: Context, tunePath: string) =>
  endpoint({
    method: 'post',
    path: tunePath,
    summary: 'Change the settings of an auth mount; omitted fields keep their values, 0 restores the default',
    access: tunePath === `${path}/tune` ? { needsSudo: true } : {},
    params: AuthMountParams,
    body: TuneBody,
    handle: async ({ params, body, caller }) => {
      const mount = await requireAuthMount(context, caller, params.path);
      const { description } = body;
      await tuneAuthMount(context, mount, { description, ...limitsIn(body), attributes: attributesIn(body) });
    },
  });

const limitsIn = (body: Pick<z.infer<typeof TuneBody>, keyof typeof limits>) => ({
  defaultLeaseSeconds: body.default_lease_ttl,
  maxLeaseSeconds: body.max_lease_ttl,
});

const attributesIn = (
  fields: { options?: Record<string, string> | undefined } & object,
  config?: object,
): MountAttributesChange => ({ ...mountAttributesIn(config, fields), options: fields.options });

const presentConfig = (mount: LeaseLimits & Pick<AuthMountRow, 'attributes'>) => ({
  default_lease_ttl: mount.defaultLeaseSeconds,
  max_lease_ttl: mount.maxLeaseSeconds,
  token_type: 'default-service',
  ...presentMountConfig(mount.attributes),
});

const disableAuthMount = (context: Context) =>
  endpoint({
    method: 'delete',
    path,
    summary: 'Disable an auth mount and revoke the tokens that it issued',
    access: { needsSudo: true },
    params: AuthMountParams,
    handle: ({ params, caller }) => removeAuthMount(context, caller, params.path),
  });

/** An auth mount, or the built-in one. */
const requireAnyMount = async (context: Context, caller: Caller, path: string) =>
  path === 'token' ? tokenMount(caller) : requireAuthMount(context, caller, path);

type PageRequest = Request<unknown, z.infer<typeof Page>, unknown>;

/** A page of auth mounts by their paths, including the built-in one. */
async function pageOfMounts(context: Context, { query, caller, warn }: PageRequest) {
  const { after = '', limit } = query;
  const range = { after: trimSlashes(after), limit: limit + 1 };
  const enabled = await listAuthMountRows(context.db, caller.namespace.id, range);
  const builtIn = range.after < 'token' ? [tokenMount(caller)] : [];
  const all = [...enabled, ...builtIn].sort((one, other) => (one.path < other.path ? -1 : 1));
  const page = cutToPage(all, limit, (mount) => ({ after: keyOf(mount) }), warn);
  return page.map((mount) => [keyOf(mount), presentAuthMount(mount)] as const);
}

/** The mount of tokens, which exists in every namespace. */
const tokenMount = ({ namespace }: Caller): AuthMountRow => ({
  id: namespace.id,
  path: 'token',
  type: 'token',
  namedType: null,
  attributes: {},
  accessor: `auth_token_${namespace.id}`,
  description: 'built in',
  defaultLeaseSeconds: 0,
  maxLeaseSeconds: 0,
});

const keyOf = (mount: Pick<AuthMountRow, 'path'>): string => `${mount.path}/`;

const presentAuthMount = (mount: AuthMountRow) => ({
  type: mount.namedType ?? mount.type,
  accessor: mount.accessor,
  description: mount.description,
  config: presentConfig(mount),
  options: mount.attributes.options ?? {},
  ...presentMountFlags(mount.attributes),
  ...builtInPlugin,
  uuid: mount.id,
});

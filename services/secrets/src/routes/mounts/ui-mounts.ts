import { readMountAccess } from '@secrets/access';
import type { Caller } from '@secrets/caller';
import { type MountAttributes, permissionDenied } from '@secrets/domain';
import { type Endpoint, endpoint } from '@secrets/http';
import { z } from 'zod';
import type { Context } from '../../context.ts';
import { mountPath } from '../../mounts/mount-path.ts';
import { presentByPath, presentMount, presentPublicMount, withSlash } from '../../mounts/present-mount.ts';
import { findContainingMount } from '../../mounts/require-mount.ts';
import { type AuthMountRow, listAuthMounts, listPublicAuthMounts } from '../../queries/auth-mounts.ts';
import { listMountRows, listPublicMountRows } from '../../queries/mounts/mounts.ts';

const basePath = '/sys/internal/ui/mounts';

/**
 * The mounts that a caller can use, by the rule of command-line clients (docs/conventions/secrets.md#mounts): those in
 * which its policies grant anything. Those with `listing_visibility: unauth` are listed to everybody, with or without a token.
 */
export const uiMountEndpoints = (context: Context): Endpoint[] => [
  readUsableMounts(context),
  readContainingMount(context),
];

/** The most mounts of a response. Whoever needs more lists `sys/mounts`. */
const maxMounts = 10_000;
/** The most mounts of a kind that are listed without a token. */
const maxPublicMounts = 100;

const readUsableMounts = (context: Context) =>
  endpoint({
    method: 'get',
    path: basePath,
    summary: 'Read the mounts that the caller can use',
    access: { anyToken: true, tokenOptional: true },
    handle: async ({ caller, warn }) => {
      if (caller.tokenType === null) return { data: await readPublicMounts(context, caller) };
      const [all, hasAccess] = await Promise.all([
        listMountRows(context.db, caller.namespace.id, { after: '', limit: maxMounts }),
        readMountAccess(context, caller),
      ]);
      if (all.length === maxMounts)
        warn(`only the first ${maxMounts} mounts were considered; list sys/mounts`);
      const auth = await listAuthMounts(context.db, caller.namespace.id, maxMounts);
      const secret = all.filter(({ path, attributes }) => isPublic(attributes) || hasAccess(path));
      return {
        data: {
          secret: presentByPath(secret),
          auth: presentAuth(
            auth.filter(({ path, attributes }) => isPublic(attributes) || hasAccess(`auth/${path}`)),
          ),
        },
      };
    },
  });

const isPublic = ({ listing_visibility }: MountAttributes): boolean => listing_visibility === 'unauth';

/** Reads what a sign-in page offers to anybody: no more of a mount than its type, its description and its options. */
async function readPublicMounts({ db }: Context, { namespace }: Caller) {
  const [secret, auth] = await Promise.all([
    listPublicMountRows(db, namespace.id, maxPublicMounts),
    listPublicAuthMounts(db, namespace.id, maxPublicMounts),
  ]);
  return {
    secret: Object.fromEntries(secret.map((mount) => [withSlash(mount), presentPublicMount(mount)])),
    auth: Object.fromEntries(
      auth.map((mount) => [withSlash(mount), { ...presentPublic(mount), options: optionsOf(mount) }]),
    ),
  };
}

const presentPublic = ({ type, description }: AuthMountRow) => ({ type, description });
const optionsOf = ({ attributes }: AuthMountRow) => attributes.options ?? {};

/** Clients call this first, to learn where the mount's path ends and which version the mount has. */
const readContainingMount = (context: Context) =>
  endpoint({
    method: 'get',
    path: `${basePath}/*path`,
    summary: 'Read the mount that contains a path',
    access: { anyToken: true },
    params: z.object({ path: mountPath }),
    handle: async ({ params, caller }) => {
      const mount = await findContainingMount(context, caller, params.path);
      const hasAccess = await readMountAccess(context, caller);
      // A missing mount has the same answer, so that the paths of mounts cannot be guessed.
      if (mount === undefined || !hasAccess(mount.path)) throw permissionDenied();
      return { data: { ...presentMount(mount), path: withSlash(mount) } };
    },
  });

const presentAuth = (mounts: readonly AuthMountRow[]) =>
  Object.fromEntries(
    mounts.map((mount) => [
      withSlash(mount),
      { ...presentPublic(mount), accessor: mount.accessor, options: optionsOf(mount) },
    ]),
  );

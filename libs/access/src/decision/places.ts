import type { Namespace } from '@secrets/caller';
import type { Db } from '@secrets/db';
import type { AccessChanges } from '../changes/access-changes.ts';
import { changeTag } from '../changes/change-tags.ts';
import type { Epoch } from '../changes/epoch.ts';
import { namespaceAt } from '../paths/namespace-names.ts';
import {
  locate,
  lookupOf,
  type NamespaceLookup,
  namespacedLogin,
  type Place,
  tagsOfLookup,
} from '../paths/namespace-prefix.ts';
import type { Operation } from '../paths/operation.ts';
import { isOwnPath, publicPath, takesWrappingToken } from '../paths/path-rules.ts';
import { namespacePath } from '../paths/request-path.ts';
import { type LoginMount, readLoginMount, readNamespace } from '../read-access.ts';
import { type EpochCache, epochCache } from '../tokens/epoch-cache.ts';
import type { FoundToken } from '../tokens/token-reader.ts';

export const rootNamespace: Namespace = { id: 'root', path: '' };

/** Returns the place that a request names, without reading anything: its namespace may not exist. */
export const namedPlace = (request: { namespace: string | undefined; path: string }): Place => ({
  namespace: namespaceNamed(namespacePath(request.namespace)),
  path: request.path,
});

/** The namespace with a path. Its ID is empty until it is found. */
const namespaceNamed = (path: string): Namespace => (path === '' ? rootNamespace : { id: '', path });

/** The authentication that a request requires, determined by its path alone, and the place whose rate limits apply first. */
export type AuthRequirement =
  | { readonly kind: 'open' | 'anonymous' | 'token'; readonly place: Place; readonly isLogin: boolean }
  | (NamedLogin & { readonly kind: 'login'; readonly isLogin: true });

/** A login. Its path may begin with a namespace, and its mount may not exist. */
interface NamedLogin {
  readonly mount: string;
  readonly place: Place;
}

export function authRequirementAt(operation: Operation, named: Place, hasToken: boolean): AuthRequirement {
  const open = publicPath(operation, named.path);
  if (open?.kind === 'open') return { kind: 'open', place: named, isLogin: takesWrappingToken(named.path) };
  if (open?.kind === 'tokenOptional' && !hasToken) return { kind: 'anonymous', place: named, isLogin: true };
  if (open?.kind === 'login') return { kind: 'login', mount: open.mount, place: named, isLogin: true };
  const below = namespacedLogin(operation, named.path);
  if (below === undefined) return { kind: 'token', place: named, isLogin: false };
  const namespace = namespaceNamed(namespaceAt(named.namespace.path, below.namespace));
  return { kind: 'login', mount: below.mount, place: { namespace, path: below.path }, isLogin: true };
}

/** Resolves where requests take place: looks up namespaces and auth mounts, in a cache that follows every change. */
export class Places {
  readonly #db: Db;
  readonly #namespaces: EpochCache<Namespace>;
  readonly #slots: EpochCache<NamespaceLookup>;
  readonly #loginMounts: EpochCache<LoginMount>;

  constructor(db: Db, changes: AccessChanges) {
    this.#db = db;
    this.#namespaces = epochCache({
      changes,
      maxEntries: maxNamespaces,
      tagsOf: ({ id }) => [changeTag.namespace(id)],
    });
    this.#slots = epochCache({ changes, maxEntries: maxNamespaces, tagsOf: tagsOfLookup });
    this.#loginMounts = epochCache({
      changes,
      maxEntries: maxLoginMounts,
      tagsOf: ({ id, namespace }) => [changeTag.mount(id), changeTag.namespace(namespace.id)],
    });
  }

  /** Returns the place of a login, and the epoch at which its mount existed. Undefined if there is no such mount. */
  async ofLogin({ mount, place }: NamedLogin): Promise<{ place: Place; epoch: Epoch } | undefined> {
    const { path } = place.namespace;
    const read = () => readLoginMount(this.#db, path, mount);
    const { epoch, row } = await this.#loginMounts.get(JSON.stringify([path, mount]), read);
    return row && { place: { namespace: row.namespace, path: place.path }, epoch };
  }

  /** Returns the place of a request with a token. A namespace in the header need not exist. */
  async locate(named: Place, { token, epoch }: FoundToken): Promise<Place> {
    const read = (path: string) => async () => lookupOf(path, await readNamespace(this.#db, path));
    const slotAt = async (path: string) => (await this.#slots.get(path, read(path), epoch)).row;
    const place = await locate(slotAt, named);
    const isOwn = isOwnPath(place.path) || place.namespace.path === token.namespace.path;
    return isOwn ? { namespace: token.namespace, path: place.path } : place;
  }

  /**
   * Returns the namespace with a path, undefined if there is none.
   * @param seen an epoch that was read after the request arrived, if there is one
   */
  async namespaceAt(path: string, seen?: Epoch): Promise<Namespace | undefined> {
    return (await this.#namespaces.get(path, () => readNamespace(this.#db, path), seen)).row;
  }
}

const maxNamespaces = 10_000;
const maxLoginMounts = 10_000;

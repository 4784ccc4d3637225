/**
 * Tags that name the objects a change may affect. login stores them with each change, and caches drop only the values
 * that depend on one of them (docs/adr/0004-token-cache-and-epoch.md).
 */
export const changeTag = {
  /** A token, and every token created from it. */
  token: (accessor: string): string => `token ${accessor}`,
  /** An auth mount that was disabled, and every token that it issued. */
  mount: (id: string): string => `mount ${id}`,
  /** The settings, the configuration and the roles of an auth mount. */
  logins: (mountId: string): string => `logins ${mountId}`,
  policy: (namespaceId: string, name: string): string => `policy ${namespaceId} ${name}`,
  /** An entity, and every token of it. */
  entity: (id: string): string => `entity ${id}`,
  /** The groups of a namespace, and every token that has an entity there. */
  groups: (namespaceId: string): string => `groups ${namespaceId}`,
  /** A namespace, and everything that belongs to it. */
  namespace: (id: string): string => `namespace ${id}`,
  /** The path of a namespace that was created; affects caches that store its absence. */
  namespaceAt: (path: string): string => `namespace at ${path}`,
  /** The rate limits that operators define. */
  quotas: 'quotas',
};

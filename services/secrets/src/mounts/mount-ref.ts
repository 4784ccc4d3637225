/** The mount of a request. Every statement checks again that this mount is enabled at this path. */
export interface MountRef {
  id: string;
  namespaceId: string;
  /** Without slashes at the ends. */
  path: string;
}

/** Thrown by a statement whose mount is no longer enabled at its path. */
export class StaleMountError extends Error {
  override readonly name = 'StaleMountError';
}

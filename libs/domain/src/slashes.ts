/** Removes slashes at both ends: mounts, namespaces and folders may be written with or without them. */
export const trimSlashes = (path: string): string => path.replace(/^\/+|\/+$/g, '');

/**
 * Whether a namespace, given by its path, may change the settings of the whole installation
 * (docs/conventions/access.md#namespaces).
 */
export const isAdministrativeNamespace = (path: string): boolean => path === '' || path === 'admin';

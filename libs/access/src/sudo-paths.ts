/**
 * Paths that need the capability `sudo` beside the one of the operation: those that reach beyond their own object.
 * Making a token without a parent, ending somebody else's token by its accessor, replacing a root credential or key.
 */
const sudoPaths: readonly RegExp[] = [
  /^auth\/token\/(?:create-orphan|revoke-orphan|revoke-accessor)$/,
  /^auth\/.+\/rotate-root$/,
  /^sys\/rotate(?:\/.*)?$/,
  /^identity\/oidc\/.+\/rotate$/,
];

/** Whether a path (within its namespace) needs `sudo`. */
export const needsSudo = (path: string): boolean => sudoPaths.some((pattern) => pattern.test(path));

/** The address of an auth mount. */
export const mountHref = (mount: string): string => `/access/auth?${new URLSearchParams({ mount })}`;

/** The address of a role. */
export const roleHref = (mount: string, role: string): string =>
  `/access/auth/role?${new URLSearchParams({ mount, role })}`;

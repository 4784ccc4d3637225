export const mountHref = (mount: string): string => `/access/auth?${new URLSearchParams({ mount })}`;

export const roleHref = (mount: string, role: string): string =>
  `/access/auth/role?${new URLSearchParams({ mount, role })}`;

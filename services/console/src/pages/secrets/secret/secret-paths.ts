import type { SecretRef } from '../queries.ts';

/** The paths below `/v1/` that are about one secret, for policies. */
export const permissionPaths = ({ mount, name }: SecretRef) => ({
  data: `${mount}/data/${name}`,
  metadata: `${mount}/metadata/${name}`,
  subkeys: `${mount}/subkeys/${name}`,
  delete: `${mount}/delete/${name}`,
  undelete: `${mount}/undelete/${name}`,
  destroy: `${mount}/destroy/${name}`,
});

export type SecretPaths = ReturnType<typeof permissionPaths>;

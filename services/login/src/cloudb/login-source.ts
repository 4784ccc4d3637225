import type { DirectoryClaims } from './claims.ts';

/** What a token remembers of its login, so that a renewal can hold the same claims against the role as it then is. */
export interface LoginSource {
  role: string;
  oid: string;
  groups: string[];
  groupsOmitted: boolean;
}

export const loginSource = (role: string, { oid, groups, groupsOmitted }: DirectoryClaims): LoginSource => ({
  role: role.toLowerCase(),
  oid,
  groups,
  groupsOmitted,
});

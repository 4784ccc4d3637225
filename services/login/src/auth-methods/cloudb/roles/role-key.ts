/** Identifies the row of a role; its name is case-insensitive. */
export const roleKey = (mountId: string, name: string) =>
  ({ table: 'login.cloudb_roles', owner: mountId, name: name.toLowerCase() }) as const;

import type { Sql } from '@secrets/db';

const maxRoles = 200;
const maxScopes = 5;
/** Of a role that binds a subscription alone: what may be read in any group may be read in this one, too. */
const anyGroup = 'secrets-service-check';

/** Up to five resource groups to which roles of a mount bind logins. */
export async function listCheckScopes(
  sql: Sql,
  mountId: string,
): Promise<{ subscriptionId: string; resourceGroup: string }[]> {
  return sql.query(
    `select distinct subscriptions.id as "subscriptionId", coalesce(groups.name, $4) as "resourceGroup"
       from (select settings from login.cloudb_roles where mount_id = $1 order by name limit $2) roles
       cross join jsonb_array_elements_text(settings->'bound_subscription_ids') subscriptions (id)
       left join jsonb_array_elements_text(settings->'bound_resource_groups') groups (name) on true
      where subscriptions.id ~ '^[0-9A-Fa-f-]{36}$' and coalesce(groups.name, $4) !~ '[*/?#%]'
      order by 1, 2 limit $3`,
    [mountId, maxRoles, maxScopes, anyGroup],
  );
}

import type { Sql } from '@secrets/db';
import type { BoundField } from '../roles/bound-fields.ts';

const maxRoles = 200;
const maxScopes = 5;
/** Stands for any group of a role that binds a subscription alone: a permission for all groups covers this one. */
const anyGroup = 'secrets-service-check';

/** SQL: the list in a field of the settings; none for any other value, which a login refuses. */
const listIn = (field: BoundField): string =>
  `case when jsonb_typeof(settings->'${field}') = 'array' then settings->'${field}' end`;

/** Up to five resource groups to which roles of a mount bind logins. */
export async function listCheckScopes(
  sql: Sql,
  mountId: string,
): Promise<{ subscriptionId: string; resourceGroup: string }[]> {
  return sql.query(
    `select distinct subscriptions.id as "subscriptionId", coalesce(groups.name, $4) as "resourceGroup"
       from (select settings from login.cloudb_roles where mount_id = $1 order by name limit $2) roles
       cross join jsonb_array_elements_text(${listIn('bound_subscription_ids')}) subscriptions (id)
       left join jsonb_array_elements_text(${listIn('bound_resource_groups')}) groups (name) on true
      where subscriptions.id ~ '^[0-9A-Fa-f-]{36}$' and coalesce(groups.name, $4) !~ '[*/?#%]'
      order by 1, 2 limit $3`,
    [mountId, maxRoles, maxScopes, anyGroup],
  );
}

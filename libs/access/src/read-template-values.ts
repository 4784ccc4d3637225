import type { Sql } from '@secrets/db';
import type { CompiledPolicies } from './policies/compile-policies.ts';
import type { TemplateValues } from './policies/path-templates.ts';

/** What the name of an entity begins with until one is chosen; its ID follows. */
export const generatedName = 'entity_';

const text = `
  select en.id, coalesce(en.name, '${generatedName}' || en.id) as name, en.metadata, (
      select coalesce(jsonb_agg(jsonb_build_object('mountAccessor', m.accessor, 'id', ea.entity_id, 'name', ea.name)), '[]')
      from login.entity_aliases ea join login.auth_mounts m on m.id = ea.mount_id where ea.entity_id = en.id
    ) as aliases, (
      select coalesce(jsonb_agg(jsonb_build_object('id', g.id, 'name', g.name, 'metadata', g.metadata)), '[]')
      from login.entity_aliases ea
      join login.group_aliases ga on ga.mount_id = ea.mount_id and ga.name = any(ea.groups)
      join login.groups g on g.id = ga.group_id
      where ea.entity_id = en.id
    ) as groups
  from login.entities en where en.id = $1::uuid and en.namespace_id = $2 and not en.disabled`;

/** Reads what templates can name of an entity. Undefined if the entity does not exist or is disabled, or belongs to another namespace. */
export async function readTemplateValues(
  sql: Sql,
  entityId: string,
  namespaceId: string,
): Promise<TemplateValues | undefined> {
  return (await sql.query<TemplateValues>(text, [entityId, namespaceId]))[0];
}

/** Resolves the templates of a token's policies. Runs no statement if they have none, or the token has no entity. */
export async function withTemplateValues(
  sql: Sql,
  policies: CompiledPolicies,
  { entityId, namespaceId }: { entityId: string | null; namespaceId: string },
): Promise<CompiledPolicies> {
  if (!policies.hasTemplates || entityId === null) return policies;
  const values = await readTemplateValues(sql, entityId, namespaceId);
  return values === undefined ? policies : policies.withValues(values);
}

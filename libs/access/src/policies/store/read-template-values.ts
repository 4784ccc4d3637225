import type { Sql } from '@secrets/db';
import { type Epoch, epochSql } from '../../changes/epoch.ts';
import type { AtEpoch } from '../../read-access.ts';
import { groupsOfAlias } from '../../tokens/identity-policies.ts';
import type { CompiledPolicies } from '../matching/compile-policies.ts';
import type { TemplateValues } from '../rules/path-templates.ts';

/** Prefix of the name of an entity until one is chosen; the ID of the entity follows. */
export const generatedName = 'entity_';

const text = `
  select ${epochSql('e')} as epoch, en.id, coalesce(en.name, '${generatedName}' || en.id) as name, en.metadata, (
      select coalesce(jsonb_agg(jsonb_build_object('mountId', m.id, 'mountAccessor', m.accessor, 'id', ea.entity_id, 'name', ea.name)), '[]')
      from login.entity_aliases ea cross join lateral (select m.id, m.accessor from login.auth_mounts m where m.id = ea.mount_id limit 1) m where ea.entity_id = en.id
    ) as aliases, (
      select coalesce(jsonb_agg(jsonb_build_object('id', g.id, 'name', g.name, 'metadata', g.metadata)), '[]')
      from login.entity_aliases ea
      ${groupsOfAlias('ea', 'g.id, g.name, g.metadata')} g
      where ea.entity_id = en.id
    ) as groups
  from login.access_epoch e
  left join login.entities en on en.id = $1::uuid and en.namespace_id = $2 and not en.disabled`;

/**
 * Reads what templates can name of an entity. Undefined if the entity does not exist or is disabled, or belongs to
 * another namespace.
 */
export async function readTemplateValues(
  sql: Sql,
  entityId: string,
  namespaceId: string,
): Promise<AtEpoch<TemplateValues>> {
  const [row] = await sql.query<TemplateValues & { epoch: Epoch; id: string | null }>(text, [
    entityId,
    namespaceId,
  ]);
  if (row === undefined) throw new Error('login.access_epoch is empty');
  return { epoch: row.epoch, row: row.id === null ? undefined : row };
}

/**
 * Resolves the templates of a token's policies. Runs no statement if they have none, or the token has no entity.
 * @param timed runs what takes time for many templates
 */
export async function withTemplateValues(
  sql: Sql,
  policies: CompiledPolicies,
  { entityId, namespaceId }: { entityId: string | null; namespaceId: string },
  timed: (compute: () => CompiledPolicies) => CompiledPolicies,
): Promise<CompiledPolicies> {
  if (!policies.hasTemplates || entityId === null) return policies;
  const { row: values } = await readTemplateValues(sql, entityId, namespaceId);
  return values === undefined ? policies : timed(() => policies.withValues(values));
}

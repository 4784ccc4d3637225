/**
 * SQL for the entities of aliases that differ from this one in letter case only, which earlier versions allowed. What restricts
 * them restricts the identity as well.
 * @param name in lower case
 */
export const entitiesInOtherCaseSql = (mountId: string, name: string): string =>
  `select o.entity_id from login.entity_aliases o where o.mount_id = ${mountId} and lower(o.name) = ${name} and o.name <> lower(o.name)`;

/**
 * SQL of a join with the groups `g` that alias `ea` names. The fences keep Postgres from reading all groups instead, which it
 * would while it has no statistics of the tables.
 */
export const groupsOfAlias = (alias: string, columns: string): string =>
  `cross join lateral (
      select group_id from login.group_aliases where mount_id = ${alias}.mount_id and name = any(${alias}.groups) offset 0) ga
    cross join lateral (select ${columns} from login.groups g where g.id = ga.group_id limit 1)`;

/**
 * SQL for the policies of an identity: those of the entity, and of the groups to which the aliases assign it. Names
 * denote policies of the entity's namespace, so they apply only to tokens of that namespace. Null if the entity does
 * not exist or is disabled.
 */
export const identityPoliciesSql = (entityId: string, namespaceId: string): string => `(
  select case when en.namespace_id = ${namespaceId} then array(
    select unnest(en.policies)
    union
    select unnest(eo.policies) from (${ofOtherCase(entityId)}) eo
    union
    select unnest(g.policies)
    from login.entity_aliases ea
    ${groupsOfAlias('ea', 'g.policies')} g
    where ea.entity_id = en.id
    order by 1
  ) else '{}' end
  from login.entities en where en.id = ${entityId} and not en.disabled
    and not exists (select 1 from (${ofOtherCase(entityId)}) eo where eo.disabled)
)`;

const ofOtherCase = (entityId: string): string => `select ee.policies, ee.disabled from login.entities ee
  where ee.id = any(array(
    select other.entity_id from login.entity_aliases ea cross join lateral (${entitiesInOtherCaseSql('ea.mount_id', 'ea.name')}) other
    where ea.entity_id = ${entityId}))`;

const maxPolicies = 50;
const maxCharacters = 4_096;

/**
 * Describes the limit on the policies of an identity. It exists because the assertion of every request contains the
 * names, and all rules are evaluated together.
 */
export const identityPolicyLimit = `${maxPolicies} names with ${maxCharacters} characters together`;

/**
 * Whether the policies of an identity can be evaluated. If there are too many, its tokens are refused: leaving some out
 * could leave out one that denies.
 */
export function areWithinLimit(identityPolicies: readonly string[]): boolean {
  const text = identityPolicies.join(',');
  const characters = text.length <= maxCharacters ? text.length : [...text].length; // Postgres counts code points
  return identityPolicies.length <= maxPolicies && characters <= maxCharacters;
}

/** SQL condition: `areWithinLimit` of an array. */
export const areWithinLimitSql = (identityPolicies: string): string =>
  `(cardinality(${identityPolicies}) <= ${maxPolicies} and length(array_to_string(${identityPolicies}, ',')) <= ${maxCharacters})`;

import { entitiesInOtherCaseSql } from '@secrets/access';

// Parts of the statements that determine the owner of a login's token. `a` is the alias.

/** The expressions of a statement for these values. */
export interface Parameters {
  mountId: string;
  alias: string;
  namespaceId: string;
  groups: string;
  issuedAt: string;
  /** Of the token. */
  policies: string;
}

/** When groups are as a login names them. A time ahead of the database's clock would make later logins wait for it. */
export const notAhead = (issuedAt: string) => `least(${issuedAt}, now())`;

/** The groups that count: those of the newest login that named any. */
export const countingGroups = ({ groups, issuedAt }: Pick<Parameters, 'groups' | 'issuedAt'>) =>
  `case when ${groups} is null or a.groups_issued_at > ${issuedAt} then a.groups else ${groups} end`;

/** Whether a login names other groups than the newest one before it. */
export const areOutdated = ({ groups, issuedAt }: Pick<Parameters, 'groups' | 'issuedAt'>) =>
  `(${groups} is not null and (a.groups <> ${groups} or a.groups_issued_at is distinct from ${issuedAt})
      and coalesce(a.groups_issued_at, '-infinity') <= ${issuedAt})`;

/** Whether this login or an earlier one names the groups, or the mount has none. */
export const areGroupsKnown = ({ groups, mountId }: Pick<Parameters, 'groups' | 'mountId'>) =>
  `(${groups} is not null or ${wereNamed} or ${hasNoGroups(mountId)})`;

export const wereNamed = `(a.groups_issued_at is not null or a.groups <> '{}')`;

export const hasNoGroups = (mountId: string) =>
  `(select ga.id from login.group_aliases ga where ga.mount_id = ${mountId} order by ga.name limit 1) is null`;

/** Whether no alias in another letter case, from an earlier version, has a disabled entity. */
export const noneIsDisabled = ({ mountId, alias }: Pick<Parameters, 'mountId' | 'alias'>) =>
  `not exists (select 1 from login.entities d where d.disabled and d.id = any(array(${entitiesInOtherCaseSql(mountId, alias)})))`;

/** The policies of an owner's entity, and those of its groups. */
export const policiesOf = (
  { mountId, alias }: Pick<Parameters, 'mountId' | 'alias'>,
  found: string,
) => `array(
      select unnest(e.policies) from login.entities e
      where e.id = any(array_append(array(${entitiesInOtherCaseSql(mountId, alias)}), ${found}.entity_id))
      union
      select unnest(g.policies) from login.group_aliases ga join login.groups g on g.id = ga.group_id
      where ga.mount_id = ${mountId} and ga.name = any(${found}.groups)
      order by 1
    )`;

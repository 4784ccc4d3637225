import type { Sql } from '@secrets/db';
import { traceparent } from '@secrets/telemetry';
import { newIntent } from './record-intents.ts';

export interface SecretAssociation {
  id: string;
  destinationType: string;
  /** Whether the push of the current secret was requested, by this statement or before it. */
  isFollowed: boolean;
}

/** Maximum number of associations per statement, which locks all of them. */
const maxTogether = 100;

/**
 * Requests that a secret, which a user has changed, is pushed again wherever it is pushed as a whole: no key can be missing or
 * need a name there, and the worker finds out whether a version is left. One statement for up to 100 associations of these
 * types. Those that were planned from the current revision need nothing more: a repeated message changes nothing. Leaves out
 * those that were planned from a later one, are being removed or marked, and those that another transaction has locked; and all
 * of them if the secret is gone. Returns all associations of the secret.
 */
export const pushChangedSecret = (
  sql: Sql,
  secretId: string,
  destinationTypes: readonly string[],
): Promise<SecretAssociation[]> =>
  sql.query<SecretAssociation>(
    `with locked as (
       select id, destination_id, planned_revision from sync.associations
        where secret_id = $1 and not removing and source_gone_at is null and unnamed_keys::text = '[]'
        order by id limit ${maxTogether} for no key update skip locked),
     whole as materialized (
       select a.id, s.revision, a.planned_revision < s.revision as is_behind
         from locked a join sync.secret_revisions s on s.secret_id = $1 and a.planned_revision <= s.revision
        where exists (select from sync.entries e where e.association_id = a.id and e.sub_key = '' and e.desired = 'present')
          and exists (select from sync.destinations d where d.id = a.destination_id and d.deleted_at is null and d.type = any($2::text[]))),
     followed as (
       update sync.associations a set planned_revision = whole.revision from whole
        where a.id = whole.id and a.id = any(array(select id from whole where is_behind))
       returning a.id),
     pushed as (
       update sync.entries set ${newIntent('user', 'false', '$3')}
        where id = any(array(
          select e.id from sync.entries e
           where e.association_id = any((select array_agg(id) from followed)::uuid[])
             and (e.desired = 'present' or e.waits_for is not null)
           order by e.id for no key update))
       returning association_id)
     select a.id, d.type as "destinationType",
            a.id = any(array(select association_id from pushed union all select id from whole where not is_behind)) as "isFollowed"
       from sync.associations a cross join lateral (
         select type from sync.destinations where id = a.destination_id limit 1) as d
      where a.secret_id = $1 order by a.id`,
    [secretId, destinationTypes, traceparent() ?? null],
  );

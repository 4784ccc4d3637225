import type { Sql } from '@secrets/db';
import { traceparent } from '@secrets/telemetry';
import { newIntent } from './record-intents.ts';

/** An association of a secret, and whether its entry was requested again. */
export interface SecretAssociation {
  id: string;
  destinationType: string;
  isPushed: boolean;
}

/** In one statement, which holds the locks of all of them. */
const maxTogether = 100;

/**
 * Requests that a secret, which a user has changed, is pushed again wherever it is pushed as a whole: no key can be missing or need a name there,
 * and the worker finds out whether a version is left. One statement for up to 100 associations of these types. Leaves out those that were planned
 * from a later revision, are being removed or marked, and those that another transaction has locked; and all of them if the secret is gone.
 * Returns all associations of the secret.
 */
export const pushChangedSecret = (
  sql: Sql,
  secretId: string,
  destinationTypes: readonly string[],
): Promise<SecretAssociation[]> =>
  sql.query<SecretAssociation>(
    `with followed as (
       update sync.associations a set planned_revision = s.revision
         from sync.secret_revisions s
        where s.secret_id = $1 and a.planned_revision <= s.revision
          and a.id = any(array(
          select id from sync.associations
           where secret_id = $1 and not removing and source_gone_at is null and unnamed_keys::text = '[]'
           order by id limit ${maxTogether} for no key update skip locked))
          and exists (select from sync.entries e where e.association_id = a.id and e.sub_key = '' and e.desired = 'present')
          and exists (select from sync.destinations d where d.id = a.destination_id and d.deleted_at is null and d.type = any($2::text[]))
       returning a.id),
     pushed as (
       update sync.entries set ${newIntent('user', 'false', '$3')}
        where id = any(array(
          select e.id from sync.entries e
           where e.association_id = any((select array_agg(id) from followed)::uuid[]) and e.desired = 'present'
           order by e.id for no key update))
       returning association_id)
     select a.id, d.type as "destinationType", a.id = any(array(select association_id from pushed)) as "isPushed"
       from sync.associations a join sync.destinations d on d.id = a.destination_id
      where a.secret_id = $1 order by a.id`,
    [secretId, destinationTypes, traceparent() ?? null],
  );

import type { Sql } from '@secrets/db';

/** A secret as the database has it. */
export interface SeenSecret {
  id: string;
  mountId: string;
  mount: string;
  accessor: string;
  path: string;
  metadata: Record<string, string> | null;
  /** The newest readable version; null if there is none. */
  version: number | null;
}

/** An association as the database has it. */
export interface SeenAssociation {
  id: string;
  destination: string;
  destinationId: string;
  secretId: string;
  byHand: boolean;
  removing: boolean;
  /** The rules that hold it. */
  rules: string[];
  /** Names of external secrets. */
  names: string[];
}

/** Returns the secrets in mounts that are enabled. */
export const seeSecrets = (sql: Sql): Promise<SeenSecret[]> =>
  sql.query(
    `select s.id, m.id as "mountId", m.path as mount, m.accessor, s.path, s.custom_metadata as metadata,
            (select max(version) from secrets.versions v
              where v.secret_id = s.id and not v.destroyed and (v.deletion_time is null or v.deletion_time > now())) as version
       from secrets.secrets s join secrets.mounts m on m.id = s.mount_id and m.disabled_at is null`,
  );

export const seeAssociations = (sql: Sql): Promise<SeenAssociation[]> =>
  sql.query(
    `select a.id, d.name as destination, d.id as "destinationId", a.secret_id as "secretId", a.by_hand as "byHand", a.removing,
            array(select r.name from sync.rule_holds h join sync.rules r on r.id = h.rule_id where h.association_id = a.id order by 1) as rules,
            array(select e.collision_key from sync.entries e where e.association_id = a.id and e.desired = 'present' order by 1) as names
       from sync.associations a join sync.destinations d on d.id = a.destination_id`,
  );

/** Returns the rules, and whether each is being deleted. */
export const seeRules = (sql: Sql): Promise<{ destination: string; name: string; phase: string }[]> =>
  sql.query(
    'select d.name as destination, r.name, r.phase from sync.rules r join sync.destinations d on d.id = r.destination_id',
  );

/** Longer than anything waits, except for the next daily run of a rule. */
const soon = `interval '7 hours'`;

/** Lets time pass for what waits, without the next daily run of rules. */
export async function letTimePass(sql: Sql): Promise<void> {
  const due = (table: string, more = '') =>
    `${table} set due_at = now() ${more} where due_at > now() and due_at < now() + ${soon}`;
  const earlier = (column: string) => `${column} = ${column} - interval '3 seconds'`;
  await sql.query(
    `with rules as (update ${due('sync.rules')}),
     refusals as (update ${due('sync.rule_refusals')}),
     entries as (update ${due('sync.entries')}),
     leases as (update sync.entries set lease_until = now() where lease_until > now()),
     reconciliation as (update sync.reconciliation set leased_until = now() where leased_until > now()),
     destinations as (update sync.destinations set replan_leased_until = now() where replan_leased_until > now()),
     marks as (update sync.associations set ${earlier('source_gone_at')} where source_gone_at is not null)
     update sync.removal_brakes set ${earlier('approved_at')} where approved_at is not null`,
  );
}

/** Everything that may still change, as a text that is the same while nothing does; undefined while something is in progress. */
export async function stateAtRest(sql: Sql): Promise<string | undefined> {
  const [row] = await sql.query<{ state: string; busy: number }>(
    `select
       (select count(*) from sync.rules where phase <> 'resting' and due_at < now() + ${soon})
       + (select count(*) from secrets.outbox) + (select count(*) from sync.associations where removing)
       + (select count(*) from secrets.mounts where disabled_at is not null)
       + (select count(*) from sync.entries where applied_generation < generation or lease_until is not null)
       + (select count(*) from sync.removal_brakes where approved_at is not null or held_at is not null)
       + (select count(*) from sync.associations where source_gone_at is not null)
       + (select count(*) from sync.destinations where coalesce(purge_initiated_at, replan_initiated_at) is not null) as busy,
       json_build_array(
         (select json_agg(row(id, secret_id, by_hand) order by id) from sync.associations),
         (select json_agg(row(rule_id, association_id) order by rule_id, association_id) from sync.rule_holds),
         (select json_agg(row(rule_id, secret_id) order by rule_id, secret_id) from sync.rule_refusals))::text as state`,
  );
  return row!.busy > 0 ? undefined : row!.state;
}

import type { Sql } from '@secrets/db';
import type { Bucket, LaneState } from '@secrets/scheduler';
import { laneState } from '../scheduling/lanes.ts';

/** A lane that destinations of a namespace use. */
export interface NamespaceLane {
  id: string;
  destinationType: string;
  lane: LaneState;
  bucket: Bucket;
  nowMs: number;
  /** Names of the namespace's own destinations, sorted. */
  destinationNames: string[];
}

/** SQL: the first lane of namespace `$1` after another one. */
const nextLane = (after: string): string => `(
  select lane_id from sync.destinations where namespace_id = $1 and lane_id > ${after} order by lane_id limit 1)`;

/**
 * Returns the lanes that destinations of a namespace use, by ID, after the given one, each with the names of at most `maxNames`
 * of them. Hops through the index from one lane to the next, however many destinations each of them has.
 */
export const listLanes = (
  sql: Sql,
  namespaceId: string,
  { after, limit, maxNames }: { after: string; limit: number; maxNames: number },
): Promise<NamespaceLane[]> =>
  sql.query<NamespaceLane>(
    `with recursive hop (lane_id, place) as (
       select next.lane_id, 1 from ${nextLane('$2::uuid')} as next
       union all
       select next.lane_id, place + 1 from hop cross join lateral ${nextLane('hop.lane_id')} as next where place < $3::int
     )
     select l.id, l.destination_type as "destinationType", ${laneState('l')} as lane,
            json_build_object('tokens', l.tokens, 'refilledAtMs', (extract(epoch from greatest(l.refilled_at, 'epoch')) * 1000)::float8) as bucket,
            (extract(epoch from now()) * 1000)::float8 as "nowMs",
            array(select name from sync.destinations d where d.namespace_id = $1 and d.lane_id = hop.lane_id
                   order by type, name limit $4) as "destinationNames"
       from hop join sync.lanes l on l.id = hop.lane_id order by place`,
    [namespaceId, after, limit, maxNames],
  );

import type { Sql } from '@secrets/db';
import { initialLane, type LaneState } from '@secrets/scheduler';
import { isSlowNow, laneState, windowLimits } from '../scheduling/lanes.ts';

/** Scheduling state of a destination and its lane. */
export interface DestinationHealth {
  destinationId: string;
  lane: LaneState;
  destination: LaneState;
  /** Whether its calls hang. */
  isSlow: boolean;
  /** The time of the database, by which the pauses are measured. */
  nowMs: number;
}

/** Returns the scheduling state of these destinations and their lanes. */
export async function readHealth(sql: Sql, destinationIds: readonly string[]): Promise<DestinationHealth[]> {
  const rows = await sql.query<Omit<DestinationHealth, 'destination'> & { destination: LaneState | null }>(
    // The limit of the subquery forces one lookup for each destination.
    `select found.* from unnest($1::uuid[]) as wanted (id) cross join lateral (
       select d.id as "destinationId", ${laneState('l')} as lane, ${laneState('h')} as destination,
              ${isSlowNow('h')} as "isSlow", (extract(epoch from now()) * 1000)::float8 as "nowMs"
         from sync.destinations d
         join sync.lanes l on l.id = d.lane_id
         left join sync.destination_health h on h.destination_id = d.id
        where d.id = wanted.id limit 1) as found`,
    [destinationIds],
  );
  return rows.map((row) => ({ ...row, destination: row.destination ?? initialLane(windowLimits) }));
}

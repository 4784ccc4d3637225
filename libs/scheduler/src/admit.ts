/** A lane as the scheduler sees it at one moment. */
export interface LaneSnapshot {
  id: string;
  /** How many entries of its healthy destinations may be outstanding; from `effectiveWindow`. */
  window: number;
  /** How many entries of all its destinations may be outstanding; from the budget. */
  maxOutstanding: number;
  /** Whether its last calls were not throttled. */
  isHealthy: boolean;
  /** Calls left in its budget. */
  tokens: number;
  /** When one of its entries was last admitted, in milliseconds since 1970; 0 for never. */
  servedAtMs: number;
  /** Destinations with equally many outstanding entries are admitted in this order; vary it. */
  destinations: readonly DestinationSnapshot[];
}

/** One destination of a lane. */
export interface DestinationSnapshot {
  id: string;
  /** From `effectiveWindow`. */
  window: number;
  /** Whether its last calls succeeded in time. All unhealthy destinations share a part of the slots. */
  isHealthy: boolean;
  /** Its entries that are enqueued or in progress. */
  outstanding: number;
  /** Whether it has entries that are due. */
  hasDue: boolean;
}

/** Maximum number of entries to enqueue now, by the ID of the destination. A destination without an entry gets none. */
export type Admission = ReadonlyMap<string, number>;

export interface AdmissionLimits {
  /** Slots of all workers of the type together. */
  slots: number;
  /** How many entries may be outstanding in the type, as a multiple of its slots. */
  queueFactor: number;
}

/** The remaining capacity of a lane. */
interface Turn {
  lane: LaneSnapshot;
  room: number;
  /** Destinations with due entries and room, the one with the fewest outstanding first. */
  destinations: { destination: DestinationSnapshot; room: number }[];
}

/**
 * Decides what to enqueue, from a snapshot of the lanes of one destination type. Lanes take turns, the one served longest ago
 * first: one entry of each is admitted per round, while it has room in its window, budget left and an entry due, and while the
 * queue of the type has room. The destinations of a lane take turns in the same way. Unhealthy destinations together never have
 * more entries outstanding than half of the slots, and those do not count against their lane's window: a destination that hangs
 * leaves room to the others of its account.
 */
export function admit(lanes: readonly LaneSnapshot[], { slots, queueFactor }: AdmissionLimits): Admission {
  const admission = new Map<string, number>();
  const room = { all: slots * queueFactor, unhealthy: Math.max(1, Math.floor(slots / 2)) };
  for (const lane of lanes) {
    for (const destination of lane.destinations) {
      room.all -= destination.outstanding;
      if (isUnhealthy(lane, destination)) room.unhealthy -= destination.outstanding;
    }
  }
  let turns = lanes.map(turnOf).filter(hasMore);
  turns.sort((a, b) => a.lane.servedAtMs - b.lane.servedAtMs);
  while (turns.length > 0 && room.all >= 1) {
    turns = turns.filter((turn) => takeTurn(turn, room, admission));
  }
  return admission;
}

const isUnhealthy = (lane: LaneSnapshot, destination: DestinationSnapshot): boolean =>
  !(lane.isHealthy && destination.isHealthy);

const turnOf = (lane: LaneSnapshot): Turn => {
  const counted = lane.destinations.filter(({ isHealthy }) => isHealthy);
  return {
    lane,
    room: Math.min(
      lane.window - outstandingOf(counted),
      lane.maxOutstanding - outstandingOf(lane.destinations),
      Math.floor(lane.tokens),
    ),
    destinations: lane.destinations
      .map((destination) => ({ destination, room: destination.window - destination.outstanding }))
      .filter(({ destination, room }) => destination.hasDue && room > 0)
      .sort((a, b) => a.destination.outstanding - b.destination.outstanding),
  };
};

const outstandingOf = (destinations: readonly DestinationSnapshot[]): number =>
  destinations.reduce((sum, { outstanding }) => sum + outstanding, 0);

const hasMore = ({ room, destinations }: Turn): boolean => room > 0 && destinations.length > 0;

/** Admits one entry of the destination whose turn it is. Returns whether the lane takes part in the next round. */
function takeTurn(
  turn: Turn,
  room: { all: number; unhealthy: number },
  admission: Map<string, number>,
): boolean {
  if (room.all < 1) return false;
  const next = turn.destinations.shift()!;
  const { id } = next.destination;
  const isSick = isUnhealthy(turn.lane, next.destination);
  if (isSick && room.unhealthy < 1) return hasMore(turn); // the others of the lane may be healthy
  admission.set(id, (admission.get(id) ?? 0) + 1);
  room.all -= 1;
  if (isSick) room.unhealthy -= 1;
  turn.room -= 1;
  next.room -= 1;
  if (next.room > 0) turn.destinations.push(next); // its destinations take turns too
  return hasMore(turn);
}

/** A lane as the scheduler sees it at one moment. */
export interface LaneSnapshot {
  id: string;
  /** From `effectiveWindow`. */
  window: number;
  /** Whether its last calls succeeded. An unhealthy lane has a share of the slots together with all others. */
  isHealthy: boolean;
  /** Calls left in its budget. */
  tokens: number;
  /** When one of its entries was last admitted, in milliseconds since 1970; 0 for never. */
  servedAtMs: number;
  /** In an order that varies: of those with equally many outstanding entries, the first comes first. */
  destinations: readonly DestinationSnapshot[];
}

/** One destination of a lane. */
interface DestinationSnapshot {
  id: string;
  /** Its entries that are enqueued or in progress. */
  outstanding: number;
  /** Whether it has entries that are due. */
  hasDue: boolean;
}

/** How many entries of each destination to enqueue now, at most. Destinations without any are left out. */
export type Admission = ReadonlyMap<string, number>;

export interface AdmissionLimits {
  /** Slots of all workers of the type together. */
  slots: number;
  /** How many entries may be outstanding in the type, as a multiple of its slots. */
  queueFactor: number;
}

/** What a lane may still get. */
interface Turn {
  lane: LaneSnapshot;
  room: number;
  /** Destinations with due entries, the one with the fewest outstanding first. */
  destinations: DestinationSnapshot[];
}

/**
 * Decides what to enqueue, from a snapshot of the lanes of one destination type. Lanes take turns, the one that waited longest first: each
 * gets one entry per round while it has room in its window, budget left, and an entry due, and while the queue of the type is short.
 * Unhealthy lanes together never have more entries outstanding than half of the slots.
 */
export function admit(lanes: readonly LaneSnapshot[], { slots, queueFactor }: AdmissionLimits): Admission {
  const admission = new Map<string, number>();
  const room = { all: slots * queueFactor, unhealthy: Math.max(1, Math.floor(slots / 2)) };
  for (const lane of lanes) {
    room.all -= outstandingOf(lane);
    if (!lane.isHealthy) room.unhealthy -= outstandingOf(lane);
  }
  let turns = lanes.map(turnOf).filter(({ room, destinations }) => room > 0 && destinations.length > 0);
  turns.sort((a, b) => a.lane.servedAtMs - b.lane.servedAtMs);
  while (turns.length > 0 && room.all > 0) {
    turns = turns.filter((turn) => takeTurn(turn, room, admission));
  }
  return admission;
}

const outstandingOf = ({ destinations }: LaneSnapshot): number =>
  destinations.reduce((sum, { outstanding }) => sum + outstanding, 0);

const turnOf = (lane: LaneSnapshot): Turn => ({
  lane,
  room: Math.min(lane.window - outstandingOf(lane), Math.floor(lane.tokens)),
  destinations: lane.destinations
    .filter(({ hasDue }) => hasDue)
    .sort((a, b) => a.outstanding - b.outstanding),
});

/** Gives a lane one entry; whether it may get another in the next round. */
function takeTurn(
  turn: Turn,
  room: { all: number; unhealthy: number },
  admission: Map<string, number>,
): boolean {
  const isUnhealthy = !turn.lane.isHealthy;
  if (room.all < 1 || (isUnhealthy && room.unhealthy < 1)) return false;
  const destination = turn.destinations.shift()!;
  turn.destinations.push(destination); // its destinations take turns too
  admission.set(destination.id, (admission.get(destination.id) ?? 0) + 1);
  room.all -= 1;
  if (isUnhealthy) room.unhealthy -= 1;
  turn.room -= 1;
  return turn.room > 0;
}

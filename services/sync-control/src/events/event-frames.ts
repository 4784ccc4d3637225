import { type Audience, type CompiledPolicies, permitsPlainRead } from '@secrets/access';
import type { EventRow } from '../queries/events.ts';
import { positionText } from './event-position.ts';
import { presentEvent } from './present-event.ts';

/** The text of an event, in the format of server-sent events. */
export interface EventFrame {
  row: EventRow;
  text: string;
}

/**
 * Returns the frames of those events that an audience may see.
 * @throws what `decideOnEach` throws
 */
export async function framesOf(audience: Audience, rows: readonly EventRow[]): Promise<EventFrame[]> {
  const { caller } = audience;
  const mayRead = remembered((path, rules) => permitsPlainRead(rules, caller, path));
  const fields = await audience.decideOnEach(rows, (row, rules) =>
    presentEvent(row, caller.namespace, (path) => mayRead(path, rules)),
  );
  return rows.flatMap((row, at) => {
    const shown = fields[at];
    return shown === undefined ? [] : [{ row, text: frameOf(row, shown) }];
  });
}

type MayReadBy = (path: string, rules: CompiledPolicies) => boolean;

function remembered(mayRead: MayReadBy): MayReadBy {
  const known = new Map<string, boolean>();
  return (path, rules) => {
    const before = known.get(path);
    if (before !== undefined) return before;
    const decided = mayRead(path, rules);
    known.set(path, decided);
    return decided;
  };
}

function frameOf({ xid, id, second, at, kind }: EventRow, fields: Record<string, unknown>): string {
  const place = positionText({ xid: BigInt(xid), id: BigInt(id), second });
  return frame({ id: place, time: at.toISOString(), kind, ...fields });
}

/** One event in the format of server-sent events. */
export const frame = (event: { id: string; kind: string; time: string }): string =>
  `id: ${event.id}\nevent: ${event.kind}\ndata: ${JSON.stringify(event)}\n\n`;

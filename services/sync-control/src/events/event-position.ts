import type { EventPosition } from '../queries/events.ts';

/** The ID of an event, or of any other place in the stream. Clients must not interpret it. */
export const positionText = ({ xid, id }: EventPosition): string => `${xid}-${id}`;

/** The format of `positionText`, within what the database can store. */
export const positionPattern = /^[0-9]{1,19}-[0-9]{1,18}$/;

/** Parses a text that matches `positionPattern`. */
export function parsePosition(text: string): EventPosition {
  const [xid = '', id = ''] = text.split('-');
  return { xid: BigInt(xid), id: BigInt(id) };
}

/** Whether a position is after another one. */
export const isAfter = (one: EventPosition, other: EventPosition): boolean =>
  one.xid === other.xid ? one.id > other.id : one.xid > other.xid;

import type { EventPosition } from '../queries/events.ts';

/** Larger than any transaction ID. */
const xidLimit = 10n ** 13n;

/**
 * The ID of an event or of another position in the stream. Clients must not interpret it. The first number begins with the time;
 * earlier versions find it too large, and report missing events.
 */
export const positionText = ({ xid, id, second }: EventPosition): string =>
  `${BigInt(second) * xidLimit + xid}-${id}`;

/** The format of `positionText`, within what the database can store. */
export const positionPattern = /^[0-9]{1,19}-[0-9]{1,18}$/;

/** Parses a text that matches `positionPattern`. */
export function parsePosition(text: string): EventPosition {
  const [place = '', id = ''] = text.split('-');
  return { xid: BigInt(place) % xidLimit, id: BigInt(id), second: Number(BigInt(place) / xidLimit) };
}

/** Whether a position is after another one. */
export const isAfter = (one: EventPosition, other: EventPosition): boolean =>
  one.xid === other.xid ? one.id > other.id : one.xid > other.xid;

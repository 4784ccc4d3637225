import { expect, test } from '@jest/globals';
import { parsePosition, positionPattern, positionText } from './event-position.ts';

const position = { xid: 9_999_999_999_999n, id: 123n, second: 999_999 };

test('a position is read as it was written, and one of an earlier version has no time', () => {
  expect(positionText(position)).toMatch(positionPattern);
  expect(parsePosition(positionText(position))).toEqual(position);
  expect(parsePosition('740-5')).toEqual({ xid: 740n, id: 5n, second: 0 });
});

test('an earlier version takes a position for one beyond its newest transaction, but one that the database can store', () => {
  const [xid = ''] = positionText({ xid: 740n, id: 0n, second: 1 }).split('-');
  expect(BigInt(xid)).toBeGreaterThan(10n ** 13n);
  expect(BigInt(positionText(position).split('-')[0]!)).toBeLessThan(2n ** 64n);
});

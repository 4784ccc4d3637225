import type { DestinationDescription } from '@secrets/destinations';
import { Fault } from '@secrets/domain';
import type { Sealed } from '@secrets/seal';

/** Throws `Fault` for a value that the destination can never take; the sentence gives size and limit in UTF-8 bytes. */
export function requireFit(
  {
    type,
    maxValueBytes,
    takesEmptyValue,
  }: Pick<DestinationDescription, 'type' | 'maxValueBytes' | 'takesEmptyValue'>,
  value: Sealed<string>,
): void {
  const bytes = Buffer.byteLength(value.reveal(), 'utf8');
  if (bytes > maxValueBytes)
    throw new Fault('too_large', `the value is ${bytes} bytes; ${type} takes at most ${maxValueBytes}`);
  if (bytes === 0 && !takesEmptyValue)
    throw new Fault('rejected', `the value is empty, which ${type} does not take`);
}

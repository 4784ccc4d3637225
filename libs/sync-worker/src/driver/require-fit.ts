import type { DestinationDescription } from '@secrets/destinations';
import { Fault } from '@secrets/domain';
import type { Sealed } from '@secrets/seal';

type SizeRule = Pick<DestinationDescription, 'type' | 'maxValueBytes' | 'takesEmptyValue'>;

/** Throws `Fault` for a value that the destination never accepts. The message states size and limit in UTF-8 bytes. */
export function requireFit({ type, maxValueBytes, takesEmptyValue }: SizeRule, value: Sealed<string>): void {
  const bytes = Buffer.byteLength(value.reveal(), 'utf8');
  if (bytes > maxValueBytes)
    throw new Fault('too_large', `the value has ${bytes} bytes; ${type} accepts at most ${maxValueBytes}`);
  if (bytes === 0 && !takesEmptyValue)
    throw new Fault('rejected', `the value is empty, which ${type} does not accept`);
}

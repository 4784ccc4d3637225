import type { DestinationDescription } from '../description.ts';

type SizeRule = Pick<DestinationDescription, 'type' | 'maxValueBytes' | 'takesEmptyValue'>;

/** Why a destination never accepts a value of this size. */
interface ValueRefusal {
  fault: 'too_large' | 'rejected';
  /** States size and limit in UTF-8 bytes. */
  sentence: string;
}

/** Returns undefined if a destination of the type accepts a value of this size. */
export function whyValueRefused(
  { type, maxValueBytes, takesEmptyValue }: SizeRule,
  bytes: number,
): ValueRefusal | undefined {
  if (bytes > maxValueBytes) {
    const sentence = `the value has ${bytes} bytes; ${type} accepts at most ${maxValueBytes}`;
    return { fault: 'too_large', sentence };
  }
  if (bytes === 0 && !takesEmptyValue)
    return { fault: 'rejected', sentence: `the value is empty, which ${type} does not accept` };
  return undefined;
}

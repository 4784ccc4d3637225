import { type DestinationDescription, whyValueRefused } from '@secrets/destinations';
import { Fault } from '@secrets/domain';
import type { Sealed } from '@secrets/seal';

type SizeRule = Pick<DestinationDescription, 'type' | 'maxValueBytes' | 'takesEmptyValue'>;

/** Throws `Fault` for a value that the destination never accepts. The message states size and limit in UTF-8 bytes. */
export function requireFit(rule: SizeRule, value: Sealed<string>): void {
  const refusal = whyValueRefused(rule, Buffer.byteLength(value.reveal(), 'utf8'));
  if (refusal !== undefined) throw new Fault(refusal.fault, refusal.sentence);
}

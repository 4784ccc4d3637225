import type { LeftPasswords } from '../queries/left-passwords.ts';
import { passwordName } from './remove-leftovers.ts';

/** Returns sentences that tell the operator which passwords to remove by hand; none if there are no such passwords. */
export function leftPasswordWarnings({ keyIds, attempts }: LeftPasswords): string[] {
  const lists = [
    ...(keyIds.length > 0 ? [`key IDs ${keyIds.join(', ')}`] : []),
    ...(attempts.length > 0 ? [`names ${attempts.map(passwordName).join(', ')}`] : []),
  ];
  return lists.length === 0
    ? []
    : [
        `rotations left passwords at the former application, which are no longer removed; remove them there: ${lists.join('; ')}`,
      ];
}

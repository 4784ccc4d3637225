import { Fault } from '@secrets/domain';
import type { Variable } from '../api/schema.ts';
import type { WantedSettings } from './store.ts';

interface Wanted extends WantedSettings {
  name: string;
  target: readonly string[];
}

/** Returns what a record that was written lacks of what was wanted; undefined if nothing. It may be for further environments. */
export function deviationOf(
  written: Variable,
  { name, target, gitBranch, isSensitive }: Wanted,
): string | undefined {
  if (written.key !== name) return 'not under its name';
  if (written.gitBranch !== gitBranch)
    return written.gitBranch === ''
      ? 'for all branches'
      : `only for the branch ${JSON.stringify(written.gitBranch)}`;
  if (isReadable(written.type) || (isSensitive && written.type !== 'sensitive'))
    return `with the type ${written.type}`;
  const missing = target.filter((environment) => !written.target.includes(environment));
  return missing.length === 0 ? undefined : `not for ${missing.join(', ')}`;
}

/** Whether every member of the project can read values of the type. */
export const isReadable = (type: string): boolean => type === 'plain' || type === 'system';

/**
 * Requires that the provider has stored what was wanted. A policy of the team may keep some environments out of a
 * record; the next attempt adds another one for them.
 * @throws {Fault} `not_ready`
 */
export function requireWanted(written: Variable, wanted: Wanted): void {
  const deviation = deviationOf(written, wanted);
  if (deviation !== undefined)
    throw new Fault('not_ready', `the provider has stored ${JSON.stringify(wanted.name)} ${deviation}`);
}

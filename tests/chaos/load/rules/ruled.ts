import { sandboxTypes } from '../../../harness/destination-types.ts';

/** The mount with the secrets that rules associate. */
export const ruledMount = 'ruled';

/** Types with destinations that only rules associate secrets with: those whose stores have room for many. */
export const ruledTypes = sandboxTypes
  .filter(({ maxEntries }) => maxEntries === undefined)
  .map(({ type }) => type);

/** The fields of a rule. */
export interface RuleSettings {
  path: string;
  metadata_match: Record<string, string>;
}

/** The name of the rule that each of these destinations has from the beginning, and that nothing changes. */
export const stillRule = 'still';

/** The folder of secrets that are written once, and that only the unchanged rule of the `nth` destination matches. */
export const stillFolder = (nth: number): string => `still/${nth}`;

/** The folder of secrets whose metadata change, as the rules that match them. */
export const changingFolder = 'changing';

/** The only value that a secret of the mount has. */
export const ruledValue = (canary: string, key: string): string => `${canary}-ruled-${key}`;

/** The body of a write of a rule. */
export const ruleBody = (settings: RuleSettings): object => ({ mount: ruledMount, ...settings });

export const rulePath = ({ path }: { path: string }, rule: string): string => `${path}/rules/${rule}`;

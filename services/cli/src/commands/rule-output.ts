import { printable } from '../output.ts';

/** A rule of a destination, as the API presents it (docs/conventions/rules.md#progress). */
export interface Rule {
  name: string;
  mount: string;
  path: string;
  exclude: string[];
  metadata_match: Record<string, string>;
  owner: { type: string; entity_id: string | null; display_name: string; since: string | null };
  state: string;
  matched: number | null;
  associated: number;
  refused: number;
  refusals: { secret_name: string; reason: string; refused_at: string }[];
  error: string | null;
  last_run_at: string | null;
}

/** One line of a table for each rule. */
export const ruleColumns = [
  { title: 'RULE', of: ({ name }: Rule) => name },
  { title: 'STATE', of: ({ state }: Rule) => state },
  { title: 'MATCHED', of: ({ matched }: Rule) => matched },
  { title: 'ASSOCIATED', of: ({ associated }: Rule) => associated },
  { title: 'REFUSED', of: ({ refused }: Rule) => refused },
  { title: 'SECRETS', of: ({ mount, path }: Rule) => `${mount}/${path}` },
  { title: 'ERROR', of: ({ error }: Rule) => error },
];

/** Everything about a rule, each setting and number on a line of its own. */
export function ruleText(rule: Rule): string {
  const lines = [
    ...settingsOf(rule),
    ['owner', ownerOf(rule.owner)],
    ['state', rule.state],
    ['matched', rule.matched ?? 'not counted yet'],
    ['associated', rule.associated],
    ['refused', rule.refused],
    ['last run', rule.last_run_at ?? 'not yet'],
    ...(rule.error === null ? [] : [['error', rule.error]]),
    ...rule.refusals.map(({ secret_name: name, reason }) => ['refused', `${rule.mount}/${name}: ${reason}`]),
  ] as [string, string | number][];
  return lines.map(([title, value]) => `${title.padEnd(12)}${printable(String(value))}`).join('\n');
}

const settingsOf = ({ name, mount, path, exclude, metadata_match: metadata }: Rule) => [
  ['rule', name],
  ['mount', mount],
  ['path', path],
  ...exclude.map((pattern) => ['exclude', pattern]),
  ...Object.entries(metadata).map(([key, value]) => ['metadata', `${key}=${value}`]),
];

const ownerOf = ({ type, entity_id: entity, display_name: name, since }: Rule['owner']): string =>
  [type, entity, name && `(${name})`, since && `since ${since}`].filter(Boolean).join(' ');

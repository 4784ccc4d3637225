/** The numbers of a plan (docs/conventions/rules.md#plan). */
export interface PlanTotals {
  matched: number;
  to_associate: number;
  to_hold: number;
  to_release: number;
  complete: boolean;
  needs_confirm: boolean;
  fingerprint: string;
}

interface PlannedMatch {
  secret_name: string;
  change: string;
  accepted: boolean;
  problems: string[];
  external_secrets: { external_name: string; problems: string[] }[];
}

/** A page of a plan. The first one has the numbers, too. */
export interface PlanPage {
  error: string | null;
  secrets: PlannedMatch[];
  next?: string;
}

/** A page of the associations that would end. */
export interface ReleasePage {
  released: { mount: string; secret_name: string }[];
  next?: string;
}

/** One line of a table for each secret of a plan. */
export const planColumns = (mount: string) => [
  { title: 'SECRET', of: ({ secret_name: name }: PlannedMatch) => `${mount}/${name}` },
  { title: 'CHANGE', of: ({ accepted, change }: PlannedMatch) => (accepted ? change : 'refused') },
  { title: 'EXTERNAL NAME', of: externalNames },
  {
    title: 'PROBLEM',
    of: ({ problems, external_secrets: planned }: PlannedMatch) =>
      [...problems, ...planned.flatMap((one) => one.problems)].join('; '),
  },
];

const maxNames = 3;

function externalNames({ external_secrets: planned }: PlannedMatch): string {
  const names = planned.slice(0, maxNames).map(({ external_name: name }) => name);
  return [...names, ...(planned.length > maxNames ? [`and ${planned.length - maxNames} others`] : [])].join(
    ', ',
  );
}

/** One line of a table for each association that would end. */
export const releaseColumns = [
  {
    title: 'SECRET',
    of: ({ mount, secret_name: name }: ReleasePage['released'][number]) => `${mount}/${name}`,
  },
  { title: 'CHANGE', of: () => 'released' },
];

/** The numbers in a sentence, with the option that a write needs. */
export function totalsText(totals: PlanTotals): string {
  const { matched, to_associate: created, to_hold: held, to_release: released } = totals;
  const numbers = `${matched} matched, ${created} to associate, ${held} to hold, ${released} to release`;
  const counted = totals.complete ? numbers : `at least ${numbers}`;
  return totals.needs_confirm ? `${counted}; to write it: --confirm ${totals.fingerprint}` : counted;
}

import { matchesRule } from '../../../../libs/domain/src/index.ts';

/** Rules, the secrets of their mount, and what is associated, as the database has them. */
export interface Ruled {
  /** The destination is `<type>/<name>`. */
  rules: readonly RuledRule[];
  /** By path: their custom metadata. */
  secrets: ReadonlyMap<string, Readonly<Record<string, string>>>;
  associations: readonly { destination: string; key: string; byHand: boolean; rules: readonly string[] }[];
  /** Secrets that rules could not associate. */
  refused: readonly string[];
}

interface RuledRule {
  destination: string;
  name: string;
  path: string;
  metadataMatch: Readonly<Record<string, string>>;
  isUpToDate: boolean;
}

/** Returns the rules that are not up to date, and what they could not associate. */
export const pendingRules = ({ rules, refused }: Ruled): string[] => [
  ...rules
    .filter(({ isUpToDate }) => !isUpToDate)
    .map(({ destination, name }) => `the rule ${name} of ${destination} is not up to date`),
  ...refused.map((path) => `${path} is refused by a rule`),
];

/** Returns how what is associated differs from what rules, and holds by hand, ask for. */
export function wrongHolders({ rules, secrets, associations }: Ruled): string[] {
  const held = new Set(
    associations.flatMap((one) => one.rules.map((rule) => `${one.destination} ${rule} ${one.key}`)),
  );
  const wanted = new Set(
    rules.flatMap((rule) =>
      [...secrets]
        .filter(([path, customMetadata]) => matchesRule({ ...rule, exclude: [] }, { path, customMetadata }))
        .map(([path]) => `${rule.destination} ${rule.name} ${path}`),
    ),
  );
  return [
    ...[...wanted].filter((one) => !held.has(one)).map((one) => `not held by its rule: ${one}`),
    ...[...held].filter((one) => !wanted.has(one)).map((one) => `held by a rule that does not match: ${one}`),
    ...associations
      .filter(({ byHand, rules: holding }) => !byHand && holding.length === 0)
      .map(({ destination, key }) => `nothing holds ${destination} ${key}`),
  ];
}

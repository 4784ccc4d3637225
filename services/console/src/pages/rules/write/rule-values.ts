import { ApiProblem } from '../../../api/problem.ts';
import type { Rule } from '../rule-api.ts';

/** The input of the form of a rule. */
export interface RuleValues {
  mount: string;
  path: string;
  /** A pattern on each line. */
  exclude: string;
  metadata: readonly { key: string; value: string }[];
  /** The ID of an entity; '' for whoever saves the rule. */
  owner: string;
}

/** Fields of a rule as requests have them. */
export interface RuleFields {
  mount: string;
  path: string;
  exclude: string[];
  metadata_match: Record<string, string>;
  owner?: string;
}

/** The values of a rule, or those of an empty form. */
export const valuesOf = (rule: Rule | undefined): RuleValues => ({
  mount: rule?.mount ?? '',
  path: rule?.path ?? '',
  exclude: (rule?.exclude ?? []).join('\n'),
  metadata: Object.entries(rule?.metadata_match ?? {}).map(([key, value]) => ({ key, value })),
  owner: rule?.owner.entity_id ?? '',
});

/** Returns what is to be requested; only who may name an owner does. */
export function fieldsOf(values: RuleValues, mayNameOwner: boolean): RuleFields {
  const owner = values.owner.trim();
  return {
    mount: values.mount.trim(),
    path: values.path.trim(),
    exclude: values.exclude
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== ''),
    metadata_match: Object.fromEntries(
      values.metadata.filter(({ key }) => key.trim() !== '').map(({ key, value }) => [key.trim(), value]),
    ),
    ...(mayNameOwner && owner !== '' && { owner }),
  };
}

/** Returns the merge patch that replaces the metadata of a stored rule: keys that are gone are null. */
export const metadataPatch = (
  before: Readonly<Record<string, string>>,
  after: Readonly<Record<string, string>>,
): Record<string, string | null> => ({
  ...Object.fromEntries(Object.keys(before).map((key) => [key, null])),
  ...after,
});

/** Returns why the service refuses a field, if its response says that. */
export function problemOf(error: unknown, field: keyof RuleFields): string | undefined {
  const sentences = error instanceof ApiProblem ? error.sentences : [];
  const own = sentences.find((sentence) => new RegExp(`^${field}\\b`).test(sentence));
  return own?.replace(/^[^:]*: /, '');
}

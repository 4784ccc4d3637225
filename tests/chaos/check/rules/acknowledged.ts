import { type Operation, ofKind } from '../../load/operation.ts';
import type { RuleSettings } from '../../load/rules/ruled.ts';
import type { Ruled } from './holders.ts';

/** A request whose outcome is unknown may take effect until then after it ended: the time limits of the services are shorter. */
const lateMs = 60_000;

/**
 * Checks that secrets, their metadata and rules are as the last acknowledged request left them, or as one left them whose
 * outcome is unknown. The requests about one of them come from one client, one after the other.
 */
export function checkRules(history: readonly Operation[], { rules, secrets }: Ruled): string[] {
  const found: string[] = [];
  for (const { key, outcome } of ofKind(history, 'add'))
    if (outcome === 'ok' && !secrets.has(key)) found.push(`${key} does not exist, although it was created`);
  for (const [key, tags] of Map.groupBy(ofKind(history, 'tag'), (one) => one.key)) {
    const allowed = allowedResults<(typeof tags)[number], string | undefined>(tags, ({ value }) => value);
    const { sync } = secrets.get(key) ?? {};
    if (allowed !== undefined && !allowed.has(sync)) found.push(`${key} has the metadata ${sync}`);
  }
  const ofRules = ofKind(history, 'rule', 'end');
  for (const [name, writes] of Map.groupBy(ofRules, (one) => `${one.destination} ${one.rule}`)) {
    const allowed = allowedResults(writes, (one) => (one.act === 'rule' ? textOf(one.settings) : undefined));
    const rule = rules.find((one) => `${one.destination} ${one.name}` === name);
    const text = rule && textOf({ path: rule.path, metadata_match: { ...rule.metadataMatch } });
    if (allowed !== undefined && !allowed.has(text)) found.push(`the rule ${name} is ${text}`);
  }
  return found;
}

const textOf = ({ path, metadata_match }: RuleSettings): string => JSON.stringify([path, metadata_match]);

/** The results that requests may have; undefined if none was acknowledged. */
function allowedResults<One extends Operation, Result>(
  operations: readonly One[],
  resultOf: (one: One) => Result,
): Set<Result> | undefined {
  const effective = operations.filter(({ outcome }) => outcome !== 'failed');
  const last = effective.findLast(({ outcome }) => outcome === 'ok');
  if (last === undefined) return undefined;
  const since = last.invokedAt - lateMs;
  const late = effective.filter(({ outcome, endedAt }) => outcome === 'unknown' && endedAt > since);
  return new Set([last, ...late].map(resultOf));
}

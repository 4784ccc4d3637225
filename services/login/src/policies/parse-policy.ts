import { type PathRule, PolicyRules } from '@secrets/access';
import { invalid } from '@secrets/domain';
import { readHcl } from './hcl/read-hcl.ts';
import { ruleOf } from './path-block.ts';

import { readJson } from './read-json.ts';

const maxBytes = 65_536;
const maxPaths = 2_000;
/** Each is a pattern that a request may have to be matched with; the others are looked up in maps. */
const maxPlusPaths = 200;
/** Values of restricted parameters: some are compared with each item of a parameter. */
const maxParameterValues = 1_000;

/**
 * Parses a policy, in HCL or JSON, into the rules that are evaluated (docs/conventions/access.md#policies). Unknown fields are
 * refused, because one of them could be a restriction that its author relies on. Throws `invalid` with what is wrong
 * and where.
 */
export function parsePolicy(source: string): PolicyRules {
  if (Buffer.byteLength(source) > maxBytes) throw invalid('policy: must have at most 64 KiB');
  const tree = /^\s*\{/.test(source) ? readJson(source) : readHcl(source);
  const rules = rulesIn(tree);
  if (rules.length > maxPaths) throw invalid(`policy: must have at most ${maxPaths} paths`);
  if (rules.filter(({ path }) => hasPlus.test(path)).length > maxPlusPaths)
    throw invalid(`policy: must have at most ${maxPlusPaths} paths with +`);
  const parsed = PolicyRules.safeParse({ paths: rules });
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw invalid(`policy: path ${JSON.stringify(rules[Number(issue?.path[1])]?.path)}: ${issue?.message}`);
  }
  if (parameterValuesIn(parsed.data) > maxParameterValues)
    throw invalid(`policy: must have at most ${maxParameterValues} values of parameters`);
  return parsed.data;
}

const parameterValuesIn = ({ paths }: PolicyRules): number =>
  paths
    .flatMap(({ allowed_parameters: allowed = {}, denied_parameters: denied = {} }) => [
      ...Object.values(allowed),
      ...Object.values(denied),
    ])
    .reduce((sum, values) => sum + values.length, 0);

const hasPlus = /(?:^|\/)\+(?:\/|$)/;

function rulesIn(tree: unknown): PathRule[] {
  const fields = asObject(tree, 'the policy');
  const unknown = Object.keys(fields).find((name) => name !== 'path' && name !== 'name');
  if (unknown !== undefined) throw invalid(`policy: ${unknown} is unknown; a policy consists of path blocks`);
  const blocks = listed(fields.path ?? []).flatMap((block) => Object.entries(asObject(block, 'path')));
  return blocks.flatMap(([path, bodies]) =>
    bodiesOf(path, bodies).map((body) => ruleOf(path, asObject(body, `path ${JSON.stringify(path)}`))),
  );
}

/** A path may have several blocks. */
function bodiesOf(path: string, bodies: unknown): unknown[] {
  const all = listed(bodies);
  if (all.length === 0) throw invalid(`policy: path ${JSON.stringify(path)} has no block`);
  return all;
}

function asObject(value: unknown, where: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalid(`policy: ${where} must be a block`);
  return value as Record<string, unknown>;
}

const listed = (value: unknown): unknown[] => (Array.isArray(value) ? value : [value]);

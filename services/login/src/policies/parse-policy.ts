import { PolicyRules } from '@secrets/access';
import { type Capability, capabilities } from '@secrets/caller';
import { invalid } from '@secrets/domain';
import { readHcl } from './read-hcl.ts';
import { readJson } from './read-json.ts';

const maxBytes = 65_536;
const maxPaths = 2_000;
/** Each is a pattern that a request may have to be matched with; the others are looked up in maps. */
const maxPlusPaths = 200;

/**
 * Parses a policy, in HCL or JSON, into the rules that are evaluated (docs/conventions.md#27-policies). Unknown fields are
 * refused, because one of them could be a restriction that its author relies on. Throws `invalid` with what is wrong
 * and where, `rate_limited` if too many policies are being parsed.
 */
export async function parsePolicy(source: string): Promise<PolicyRules> {
  if (Buffer.byteLength(source) > maxBytes) throw invalid('policy: must have at most 64 KiB');
  const tree = /^\s*\{/.test(source) ? readJson(source) : await readHcl(source);
  const rules = rulesIn(tree);
  if (rules.length > maxPaths) throw invalid(`policy: must have at most ${maxPaths} paths`);
  if (rules.filter(({ path }) => hasPlus.test(path)).length > maxPlusPaths)
    throw invalid(`policy: must have at most ${maxPlusPaths} paths with +`);
  const parsed = PolicyRules.safeParse({ paths: rules });
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw invalid(`policy: path ${JSON.stringify(rules[Number(issue?.path[1])]?.path)}: ${issue?.message}`);
  }
  return parsed.data;
}

const hasPlus = /(?:^|\/)\+(?:\/|$)/;

interface Rule {
  path: string;
  capabilities: Capability[];
}

function rulesIn(tree: unknown): Rule[] {
  const fields = Object.entries(asObject(tree, 'the policy'));
  const unknown = fields.find(([name]) => name !== 'path');
  if (unknown !== undefined)
    throw invalid(`policy: ${unknown[0]} is unknown; a policy consists of path blocks`);
  const blocks = listed(fields[0]?.[1] ?? []).flatMap((block) => Object.entries(asObject(block, 'path')));
  const rules = blocks.flatMap(([path, bodies]) => bodiesOf(path, bodies).map((body) => ruleOf(path, body)));
  if (rules.length === 0) throw invalid('policy: contains no path block');
  return rules;
}

/** A path may have several blocks. */
function bodiesOf(path: string, bodies: unknown): unknown[] {
  const all = listed(bodies);
  if (all.length === 0) throw invalid(`policy: path ${JSON.stringify(path)} has no block`);
  return all;
}

function ruleOf(path: string, body: unknown): Rule {
  const where = `path ${JSON.stringify(path)}`;
  const fields = asObject(body, where);
  const unknown = Object.keys(fields).find((name) => name !== 'capabilities');
  if (unknown !== undefined) throw invalid(`policy: ${where}: ${unknown} is not supported`);
  if (path.includes('{{')) throw invalid(`policy: ${where}: templates are not supported`);
  if (!Array.isArray(fields.capabilities)) throw invalid(`policy: ${where}: capabilities must be a list`);
  return { path, capabilities: fields.capabilities.map((name) => capabilityOf(where, name)) };
}

function capabilityOf(where: string, name: unknown): Capability {
  const known = capabilities.find((capability) => capability === name);
  if (known === undefined)
    throw invalid(
      `policy: ${where}: ${JSON.stringify(name)} is not a capability (${capabilities.join(', ')})`,
    );
  return known;
}

function asObject(value: unknown, where: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalid(`policy: ${where} must be a block`);
  return value as Record<string, unknown>;
}

const listed = (value: unknown): unknown[] => (Array.isArray(value) ? value : [value]);

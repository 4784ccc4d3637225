import type { PathRule } from '@secrets/access';
import { type Capability, capabilities } from '@secrets/caller';
import { invalid, type Json, seconds } from '@secrets/domain';

/** The fields of a path block besides `capabilities`, each with its reader. */
const readers = {
  policy: (where, value) => ({ capabilities: capabilitiesOfShorthand(where, value) }),
  capabilities: (where, value) => ({ capabilities: capabilitiesIn(where, value) }),
  allowed_parameters: (where, value) => ({ allowed_parameters: valuesByName(where, value) }),
  denied_parameters: (where, value) => ({ denied_parameters: valuesByName(where, value) }),
  required_parameters: (where, value) => ({ required_parameters: namesIn(where, value) }),
  min_wrapping_ttl: (where, value) => ({ min_wrapping_ttl: secondsIn(where, value) }),
  max_wrapping_ttl: (where, value) => ({ max_wrapping_ttl: secondsIn(where, value) }),
  subscribe_event_types: (where, value) => ({ subscribe_event_types: namesIn(where, value) }),
  comment: () => ({}),
} satisfies Record<string, (where: string, value: unknown) => Partial<PathRule>>;

type Field = keyof typeof readers;
const isField = (name: string): name is Field => Object.hasOwn(readers, name);

/** The rule of one block. Throws `invalid` for an unknown field: it could be a restriction that its author relies on. */
export function ruleOf(path: string, block: Record<string, unknown>): PathRule {
  const where = `path ${JSON.stringify(path)}`;
  const fields = Object.entries(block).map(([name, value]) => {
    if (!isField(name)) throw invalid(`policy: ${where}: ${name} is not supported`);
    return readers[name](`${where}: ${name}`, value);
  });
  const capabilities = fields.flatMap((field) => ('capabilities' in field ? field.capabilities : []));
  const all: PathRule = Object.assign({}, ...fields, { path, capabilities });
  const { subscribe_event_types: eventTypes = [], ...rest } = all;
  const rule = namesSubscribe(block) ? { ...rest, subscribe_event_types: eventTypes } : rest;
  const { min_wrapping_ttl: min = 0, max_wrapping_ttl: max = 0 } = rule;
  if (max > 0 && min > max) throw invalid(`policy: ${where}: min_wrapping_ttl exceeds max_wrapping_ttl`);
  return rule;
}

/** The capabilities that older policies name with one word. */
const shorthands: Readonly<Record<string, readonly Capability[]>> = {
  deny: ['deny'],
  read: ['read', 'list'],
  write: ['create', 'read', 'update', 'delete', 'list'],
  sudo: ['create', 'read', 'update', 'delete', 'list', 'sudo'],
};

function capabilitiesOfShorthand(where: string, word: unknown): Capability[] {
  const known = typeof word === 'string' && Object.hasOwn(shorthands, word) ? shorthands[word] : undefined;
  if (known === undefined)
    throw invalid(`policy: ${where} must be one of ${Object.keys(shorthands).join(', ')}`);
  return [...known];
}

/** A capability that other servers have for a verb that this one does not have: it grants nothing. */
const unknownHere = 'scan';

/** The capability to receive events. It is stored as the types of the events, which may be none. */
const subscribe = 'subscribe';

const namesSubscribe = ({ capabilities: names }: Record<string, unknown>): boolean =>
  Array.isArray(names) && names.includes(subscribe);

function capabilitiesIn(where: string, value: unknown): Capability[] {
  if (!Array.isArray(value)) throw invalid(`policy: ${where} must be a list`);
  return value
    .filter((name) => name !== unknownHere && name !== subscribe)
    .map((name) => {
      const known = capabilities.find((capability) => capability === name);
      if (known !== undefined) return known;
      const all = [...capabilities, subscribe].join(', ');
      throw invalid(`policy: ${where}: ${JSON.stringify(name)} is not a capability (${all})`);
    });
}

/** A map of lists, which HCL allows to be written in several blocks. */
function valuesByName(where: string, value: unknown): Record<string, Json[]> {
  const blocks = Array.isArray(value) ? value : [value];
  const entries = blocks.flatMap((block) => {
    if (typeof block !== 'object' || block === null || Array.isArray(block))
      throw invalid(`policy: ${where} must map names to lists of values`);
    return Object.entries(block);
  });
  const values = new Map<string, Json[]>();
  for (const [name, list] of entries) {
    if (!Array.isArray(list)) throw invalid(`policy: ${where}: the values of ${name} must be a list`);
    const known = values.get(name);
    const isAny = list.length === 0 || known?.length === 0;
    values.set(name, isAny ? [] : [...(known ?? []), ...(list as Json[])]);
  }
  return Object.fromEntries(values);
}

function namesIn(where: string, value: unknown): string[] {
  const isText = (name: unknown): name is string => typeof name === 'string';
  if (!Array.isArray(value) || !value.every(isText))
    throw invalid(`policy: ${where} must be a list of names`);
  return value;
}

function secondsIn(where: string, value: unknown): number {
  const parsed = seconds.safeParse(value);
  if (!parsed.success) throw invalid(`policy: ${where} ${parsed.error.issues[0]?.message}`);
  return parsed.data;
}

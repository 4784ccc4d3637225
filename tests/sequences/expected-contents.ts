import { findDescription } from '../../libs/destinations/src/index.ts';
import { templateFor } from '../harness/destination-types.ts';
import { sharedTemplate, smallTemplate } from './operations.ts';

/** Names and values of external secrets. The names are collision keys. */
export type Contents = Readonly<Record<string, string>>;

/** The settings that determine the names of the external secrets of an association. */
export interface Shape {
  template: number;
  granularity: 'secret-path' | 'secret-key';
}

/** The part of a store that the external secrets of a destination have for themselves, unless it shares their names. */
export interface NamePlace {
  type: string;
  /** The number of the first destination of the sequence that has these names. */
  index: number;
  mount: string;
}

/** The external secrets of one association: by the shape that it should have, and by all those that it had before. */
export interface Expected {
  /** Identifies the destination in its sequence. */
  destination: string;
  now: Contents;
  before: Contents;
}

/** The prefix of the names of a destination's external secrets, for a template. */
export const nameStart = ({ index, mount }: NamePlace, template: number): string =>
  `t${template}d${index}x${mount}x`;

/** The settings that a destination needs to name its external secrets by a shape. */
export const shapeFields = (place: NamePlace, { template, granularity }: Shape): object => {
  const base = template === sharedTemplate ? 's' : '{{ .SecretBaseName }}';
  const key = template === smallTemplate ? '{{ .SecretKey | lowercase }}' : '{{ .SecretKey }}';
  const text = `${nameStart(place, template)}${base}${granularity === 'secret-key' ? `x${key}` : ''}`;
  return { granularity, secret_name_template: templateFor(place.type, text) };
};

/** The external secrets of a secret with this data, by a shape. */
export function contentsOf(
  place: NamePlace,
  { template, granularity }: Shape,
  secret: { name: string; data: Readonly<Record<string, string>> },
): Contents {
  const { nameRule } = findDescription(place.type);
  const base = `${nameStart(place, template)}${template === sharedTemplate ? 's' : secret.name}`;
  const named = (name: string) =>
    nameRule.collisionKey(nameRule.check('name') === undefined ? name : name.toUpperCase());
  if (granularity === 'secret-path') return { [named(base)]: canonical(secret.data) };
  return Object.fromEntries(
    Object.entries(secret.data).map(([key, value]) => {
      const spelt = template === smallTemplate ? key.toLowerCase() : key;
      return [named(`${base}x${spelt}`), value];
    }),
  );
}

/**
 * Returns why the stores of a sequence do not hold what they should; undefined if they do. Of associations that want the
 * same name, one has it. The others have what they had before, without the names that are taken. If they belong to one
 * destination, they may also lack further ones.
 */
export function whyWrong(held: Contents, all: readonly Expected[]): string | undefined {
  const wanting = Map.groupBy(
    all.flatMap((one) => Object.keys(one.now).map((name) => ({ name, one }))),
    ({ name }) => name,
  );
  const isRefused = (one: Expected) =>
    Object.keys(one.now).length > 1 &&
    Object.keys(one.now).some((name) =>
      wanting.get(name)!.some((other) => other.one !== one && other.one.destination === one.destination),
    );
  const missing = [...wanting].find(
    ([name, wants]) => !(name in held) && !wants.some(({ one }) => isRefused(one)),
  );
  if (missing !== undefined) return `${missing[0]} is missing`;
  const blocked = blockedOf(all);
  const allowed = (name: string, value: string) =>
    all.some((one) => one.now[name] === value || (blocked.has(one) && one.before[name] === value));
  const wrong = Object.entries(held).find(([name, value]) => !allowed(name, value));
  return wrong && `${wrong[0]} is ${wrong[1]}`;
}

/** The associations that may lack a name because another one has it: wants it too, or cannot give it up yet. */
function blockedOf(all: readonly Expected[]): Set<Expected> {
  const blocked = new Set<Expected>();
  const isBlockedBy = (one: Expected, other: Expected) =>
    one !== other &&
    Object.keys(one.now).some((name) => name in other.now || (blocked.has(other) && name in other.before));
  for (let size = -1; blocked.size > size; ) {
    size = blocked.size;
    for (const one of all) if (all.some((other) => isBlockedBy(one, other))) blocked.add(one);
  }
  return blocked;
}

/** A whole secret as text, with its keys in order. */
const canonical = (data: Readonly<Record<string, string>>): string =>
  JSON.stringify(Object.fromEntries(Object.entries(data).sort(([a], [b]) => (a < b ? -1 : 1))));

/** The value of a whole secret with its keys in order; another value as it is. */
export function parsed(value: string): string {
  try {
    const data: unknown = JSON.parse(value);
    return typeof data === 'object' && data !== null && !Array.isArray(data)
      ? canonical(data as Record<string, string>)
      : value;
  } catch {
    return value;
  }
}

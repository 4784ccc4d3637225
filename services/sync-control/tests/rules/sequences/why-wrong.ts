import { Model, type ModelRule } from './model.ts';
import { Outside, type Pushed } from './outside.ts';
import type { SeenAssociation, SeenSecret } from './seen.ts';

/** The state of the service when nothing is in progress. */
export interface Seen {
  secrets: readonly SeenSecret[];
  associations: readonly SeenAssociation[];
  rules: readonly { destination: string; name: string; phase: string }[];
  outside: ReadonlyMap<string, Pushed>;
  /** The name that a destination has for a secret now. */
  externalName(destination: string, secret: SeenSecret): string;
}

/** Returns how what is seen differs from what the holders ask for; undefined if it does not. */
export const whyWrong = (model: Model, seen: Seen): string | undefined =>
  [
    ...wrongRules(model, seen),
    ...wrongHands(model, seen),
    ...wrongHolds(model, seen),
    ...wrongOutside(seen),
  ][0];

function* wrongRules(model: Model, { rules }: Seen): Generator<string> {
  const found = rules.map(({ destination, name }) => Model.key(destination, name)).sort();
  const wanted = [...model.rules.keys()].sort();
  if (found.join() !== wanted.join()) yield `the rules are ${found}, not ${wanted}`;
}

function* wrongHands(model: Model, { associations }: Seen): Generator<string> {
  const found = associations
    .filter(({ byHand }) => byHand)
    .map(({ destination, secretId }) => `${destination} ${secretId}`);
  const wanted = model.allByHand;
  for (const one of found) if (!wanted.has(one)) yield `${one} is held by hand`;
  for (const one of wanted) if (!found.includes(one)) yield `${one} is not held by hand`;
  for (const { destination, secretId, byHand, rules } of associations)
    if (!byHand && rules.length === 0) yield `nothing holds ${destination} ${secretId}`;
}

function* wrongHolds(model: Model, seen: Seen): Generator<string> {
  for (const rule of model.rules.values()) {
    const held = heldBy(seen.associations, rule);
    const gone = new Set(held);
    for (const secret of seen.secrets) {
      gone.delete(secret.id);
      const why = held.has(secret.id) ? whyNotHeld(rule, secret) : whyHeld(model, seen, { rule, secret });
      if (why !== undefined) yield `${rule.destination} ${rule.name}: ${secret.path} ${why}`;
    }
    for (const id of gone) yield `${rule.destination} ${rule.name} holds ${id}, which is gone`;
  }
}

/** Why a rule should not hold a secret. */
function whyNotHeld(rule: ModelRule, secret: SeenSecret): string | undefined {
  if (!Model.matches(rule, secret)) return 'is held, and does not match';
  return rule.possible.has(secret.id) ? undefined : 'is held, and its owner never might';
}

/** Why a rule should hold a secret. */
function whyHeld(
  model: Model,
  seen: Seen,
  { rule, secret }: { rule: ModelRule; secret: SeenSecret },
): string | undefined {
  if (rule.kept.has(secret.id)) return 'is no longer held';
  return model.wants(rule, secret) && !isTaken(seen, rule, secret) ? 'is not held' : undefined;
}

export const heldBy = (
  associations: readonly SeenAssociation[],
  rule: Pick<ModelRule, 'destination' | 'name'>,
): Set<string> =>
  new Set(
    associations
      .filter((one) => one.destination === rule.destination && one.rules.includes(rule.name))
      .map(({ secretId }) => secretId),
  );

/** Whether an association of another secret has the name of a secret in the destination of a rule. */
function isTaken(
  { associations, externalName }: Seen,
  { destination }: ModelRule,
  secret: SeenSecret,
): boolean {
  const name = externalName(destination, secret);
  return associations.some(
    (one) => one.destination === destination && one.secretId !== secret.id && one.names.includes(name),
  );
}

function* wrongOutside({ secrets, associations, outside }: Seen): Generator<string> {
  const wanted = new Map<string, string>();
  for (const { destinationId, secretId, names } of associations) {
    const version = secrets.find(({ id }) => id === secretId)?.version;
    if (names.length !== 1) yield `${secretId} has ${names.length} external secrets`;
    if (version !== null && version !== undefined)
      for (const name of names) wanted.set(Outside.place(destinationId, name), `${secretId} ${version}`);
  }
  for (const place of new Set([...wanted.keys(), ...outside.keys()])) {
    const pushed = outside.get(place);
    const held = pushed && `${pushed.secretId} ${pushed.version}`;
    if (held !== wanted.get(place)) yield `outside, ${place} is ${held}, not ${wanted.get(place)}`;
  }
}

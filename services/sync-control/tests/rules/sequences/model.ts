import { matchesRule } from '@secrets/domain';
import type { Rights, Settings } from './operations.ts';
import type { SeenSecret } from './seen.ts';

/** A rule that was accepted. Its mount is known by its ID. */
export interface ModelRule {
  destination: string;
  name: string;
  owner: number;
  mountId: string;
  settings: Settings;
  /** Secrets that it may hold: at some time since the last rest it matched, and its owner was permitted. */
  possible: Set<string>;
  /** Secrets that it must hold still: it held them at the last rest, and has matched them since. */
  kept: Set<string>;
}

interface Owner {
  rights: Rights;
  isEnabled: boolean;
}

/** The holders of associations, and the associations that they ask for. */
export class Model {
  readonly owners: Owner[];
  /** By destination and name. */
  readonly rules = new Map<string, ModelRule>();
  /** The associations that are held by hand: destination and secret. */
  readonly byHand = new Set<string>();
  /** Associations that are going to be held by hand when a rule has ended, by the rule. */
  readonly keeping = new Map<string, Set<string>>();

  constructor(owners: number) {
    this.owners = Array.from({ length: owners }, () => ({ rights: 'all', isEnabled: true }));
  }

  static key = (destination: string, name: string): string => `${destination} ${name}`;

  /** Whether the owner of a rule may associate a secret now. */
  permits(rule: ModelRule, { mount, path }: SeenSecret): boolean {
    const { rights, isEnabled } = this.owners[rule.owner]!;
    if (!isEnabled) return false;
    if (rights === 'part') return path.startsWith('a/');
    return rights === 'all' || (rights === 'firstMount' && mount === 'm0');
  }

  static matches = ({ mountId, settings }: ModelRule, secret: SeenSecret): boolean =>
    mountId === secret.mountId &&
    matchesRule(
      { ...settings, metadataMatch: settings.metadata_match },
      { ...secret, customMetadata: secret.metadata },
    );

  /** Whether a rule must associate a secret, unless its name is taken. */
  wants(rule: ModelRule, secret: SeenSecret): boolean {
    return Model.matches(rule, secret) && secret.version !== null && this.permits(rule, secret);
  }

  /** Notes what the rules may do while the secrets are like this. */
  observe(secrets: readonly SeenSecret[]): void {
    const ids = new Set(secrets.map(({ id }) => id));
    for (const rule of this.rules.values()) {
      for (const secret of secrets) {
        if (this.wants(rule, secret)) rule.possible.add(secret.id);
        if (!Model.matches(rule, secret)) rule.kept.delete(secret.id);
      }
      rule.kept = new Set([...rule.kept].filter((id) => ids.has(id)));
    }
    for (const holds of [this.byHand, ...this.keeping.values()])
      for (const held of holds) if (!ids.has(held.split(' ')[1]!)) holds.delete(held);
  }

  /** Ends the hold by hand of an association, which these rules of its destination still hold. */
  letGo(destination: string, held: string, rules: readonly string[]): void {
    this.byHand.delete(held);
    const holding = rules.map((rule) => Model.key(destination, rule));
    for (const [rule, keeping] of this.keeping) if (!holding.includes(rule)) keeping.delete(held);
  }

  /** Everything that is held by hand, or is going to be. */
  get allByHand(): Set<string> {
    return new Set([this.byHand, ...this.keeping.values()].flatMap((holds) => [...holds]));
  }

  /** Notes what each rule holds while nothing is in progress. */
  rest(heldBy: (rule: ModelRule) => Set<string>): void {
    for (const rule of this.rules.values()) {
      rule.kept = heldBy(rule);
      rule.possible = new Set(rule.kept);
    }
    for (const keeping of this.keeping.values()) for (const held of keeping) this.byHand.add(held);
    this.keeping.clear();
  }

  /** A destination is being purged, or was: nothing of it stays. */
  forget(destination: string): void {
    for (const [key, rule] of this.rules) if (rule.destination === destination) this.rules.delete(key);
    for (const held of this.byHand) if (held.startsWith(`${destination} `)) this.byHand.delete(held);
    for (const key of this.keeping.keys()) if (key.startsWith(`${destination} `)) this.keeping.delete(key);
  }
}

import { type Fault, FaultSpec } from './fault-spec.ts';
import { TokenBucket } from './token-bucket.ts';

const MAX_RULES = 1000;

interface Rule {
  id: string;
  fault: Fault;
  operations: ReadonlySet<string> | undefined;
  namePattern: RegExp | undefined;
  remaining: number;
  /** How many calls have matched. */
  matched: number;
  bucket: TokenBucket | undefined;
}

/**
 * The staleness of the response of a call, in milliseconds behind the current state. It matters only if the call reads
 * or lists.
 */
export interface Lag {
  /** Of a read that the provider does not document as strongly consistent. */
  readMs: number;
  /** Of a list; at least `readMs`. */
  listMs: number;
}

/** The combined effect of the faults that match one call. */
export interface AppliedFaults {
  delayMs: number;
  lag: Lag;
  /** The fault that replaces the response, if any. */
  override: Fault | undefined;
}

/** The active faults of one simulated service. Rules are evaluated in the order in which they were added. */
export class FaultInjector {
  readonly #now: () => number;
  #rules: Rule[] = [];
  #lastId = 0;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /**
   * Adds a fault and returns its ID.
   * @throws ZodError if the fault is invalid; RangeError if there are 1,000 faults already
   */
  add(spec: FaultSpec): string {
    if (this.#rules.length >= MAX_RULES) throw new RangeError(`at most ${MAX_RULES} faults can be active`);
    const fault = FaultSpec.parse(spec);
    this.#lastId += 1;
    const id = `fault-${this.#lastId}`;
    this.#rules.push(toRule(id, fault, this.#now()));
    return id;
  }

  /** Removes a fault. Returns false if the ID is unknown. */
  remove(id: string): boolean {
    const before = this.#rules.length;
    this.#rules = this.#rules.filter((rule) => rule.id !== id);
    return this.#rules.length < before;
  }

  clear(): void {
    this.#rules = [];
  }

  list(): (Fault & { id: string; remaining: number | undefined })[] {
    return this.#rules.map(({ id, fault, remaining }) => ({
      ...fault,
      id,
      remaining: Number.isFinite(remaining) ? remaining : undefined,
    }));
  }

  /** Evaluates the rules for one call, and counts the call against each rule that takes effect. */
  apply(operation: string, name: string | undefined): AppliedFaults {
    const applied: AppliedFaults = { delayMs: 0, lag: { readMs: 0, listMs: 0 }, override: undefined };
    for (const rule of this.#rules) {
      if (isNext(rule, operation, name) && takesEffect(applied, rule, this.#now())) rule.remaining -= 1;
    }
    if (this.#rules.some((rule) => rule.remaining <= 0)) {
      this.#rules = this.#rules.filter((rule) => rule.remaining > 0);
    }
    return applied;
  }
}

function toRule(id: string, fault: Fault, nowMs: number): Rule {
  const { operation, name, times } = fault;
  return {
    id,
    fault,
    operations: operation === undefined ? undefined : new Set([operation].flat()),
    namePattern: name === undefined ? undefined : patternOf(name),
    remaining: times ?? Number.POSITIVE_INFINITY,
    matched: 0,
    bucket: fault.effect === 'rate-limit' ? bucketOf(fault.perSecond, fault.burst, nowMs) : undefined,
  };
}

function bucketOf(perSecond: number, burst: number | undefined, nowMs: number): TokenBucket {
  return new TokenBucket(perSecond, burst ?? Math.max(1, perSecond), nowMs);
}

/** The expression for a pattern of names, where `*` matches any text. Some stores change the case of names. */
export function patternOf(name: string): RegExp {
  const literal = name.split(/\*+/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${literal.join('.*')}$`, 'si');
}

/** Counts a matching call. Returns whether the rule affects it: each call, unless `every` is set. */
function isNext(rule: Rule, operation: string, name: string | undefined): boolean {
  if (!matches(rule, operation, name)) return false;
  rule.matched += 1;
  return rule.matched % (rule.fault.every ?? 1) === 0;
}

function matches(rule: Rule, operation: string, name: string | undefined): boolean {
  if (rule.operations && !rule.operations.has(operation)) return false;
  return rule.namePattern === undefined || (name !== undefined && rule.namePattern.test(name));
}

/**
 * Adds a rule's fault to `applied`. Returns false if another fault already overrides the response, or the rate permits
 * the call.
 */
function takesEffect(applied: AppliedFaults, { fault, bucket }: Rule, nowMs: number): boolean {
  switch (fault.effect) {
    case 'slow':
      applied.delayMs += fault.ms;
      return true;
    case 'stale-read':
      applied.lag.readMs = Math.max(applied.lag.readMs, fault.ms);
      applied.lag.listMs = Math.max(applied.lag.listMs, fault.ms);
      return true;
    case 'stale-list':
      applied.lag.listMs = Math.max(applied.lag.listMs, fault.ms);
      return true;
    default:
      if (applied.override || bucket?.take(nowMs)) return false;
      applied.override = fault;
      return true;
  }
}

import { type Fault, FaultSpec } from './fault-spec.ts';
import { TokenBucket } from './token-bucket.ts';

const MAX_RULES = 1000;

interface Rule {
  id: string;
  fault: Fault;
  operations: ReadonlySet<string> | undefined;
  namePattern: RegExp | undefined;
  remaining: number;
  bucket: TokenBucket | undefined;
}

/** What waits for one call: how long it is held up, how old the lists are that it sees, how it ends. */
export interface Weather {
  delayMs: number;
  staleMs: number;
  ending: Fault | undefined;
}

/** The faults ordered from one simulated service. Rules are looked at in the order in which they were added. */
export class FaultBoard {
  readonly #now: () => number;
  #rules: Rule[] = [];
  #lastId = 0;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /**
   * Orders a fault and answers its id.
   * @throws ZodError when the fault is not one that the sandbox knows; RangeError beyond 1,000 rules
   */
  add(spec: FaultSpec): string {
    if (this.#rules.length >= MAX_RULES) throw new RangeError(`at most ${MAX_RULES} faults at once`);
    const fault = FaultSpec.parse(spec);
    this.#lastId += 1;
    const id = `fault-${this.#lastId}`;
    this.#rules.push(toRule(id, fault, this.#now()));
    return id;
  }

  /** Takes a fault away; false when there is none of that id. */
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

  /** Decides what happens to one call, and counts it against the rules that it met. */
  meet(operation: string, name: string | undefined): Weather {
    const weather: Weather = { delayMs: 0, staleMs: 0, ending: undefined };
    for (const rule of this.#rules) {
      if (!aimsAt(rule, operation, name) || !changes(weather, rule, this.#now())) continue;
      rule.remaining -= 1;
    }
    if (this.#rules.some((rule) => rule.remaining <= 0)) {
      this.#rules = this.#rules.filter((rule) => rule.remaining > 0);
    }
    return weather;
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
    bucket: fault.effect === 'rate-limit' ? bucketOf(fault.perSecond, fault.burst, nowMs) : undefined,
  };
}

function bucketOf(perSecond: number, burst: number | undefined, nowMs: number): TokenBucket {
  return new TokenBucket(perSecond, burst ?? Math.max(1, perSecond), nowMs);
}

function patternOf(name: string): RegExp {
  const literal = name.split(/\*+/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${literal.join('.*')}$`, 's');
}

function aimsAt(rule: Rule, operation: string, name: string | undefined): boolean {
  if (rule.operations && !rule.operations.has(operation)) return false;
  return rule.namePattern === undefined || (name !== undefined && rule.namePattern.test(name));
}

function changes(weather: Weather, { fault, bucket }: Rule, nowMs: number): boolean {
  switch (fault.effect) {
    case 'slow':
      weather.delayMs += fault.ms;
      return true;
    case 'stale-list':
      weather.staleMs = Math.max(weather.staleMs, fault.ms);
      return true;
    default:
      if (weather.ending || bucket?.take(nowMs)) return false;
      weather.ending = fault;
      return true;
  }
}

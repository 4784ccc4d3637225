import { invalid, type Json } from '@secrets/domain';

/** Comparisons that the restricted parameters of one request may take: a few milliseconds. */
export const maxComparisons = 5_000;
/** Pairs of characters that may be looked at in the time of one comparison. */
const charactersEach = 10_000;
/** Longest text whose search takes no more time than reading what it is searched in once. */
const maxFastText = 250;

/** The fields of an object, or the items of a list. */
type Fields = Readonly<Record<string, Json>>;

/**
 * Counts what it takes to compare the parameters of one request with the values in policies: their product could be any
 * number, and nothing else runs meanwhile.
 */
export class Comparisons {
  #steps = 0;

  get steps(): number {
    return this.#steps;
  }

  /**
   * Counts comparisons before they are made.
   * @throws a problem (`invalid`) beyond the maximum
   */
  take(steps: number): void {
    if (this.#steps + steps > maxComparisons)
      throw invalid('the parameters have too many values to compare with the policies of the token');
    this.#steps += steps;
  }

  /** Whether two values are the same. Numbers are compared with their sign. */
  isEqual(a: Json, b: Json): boolean {
    this.take(1);
    if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return Object.is(a, b);
    const [names, others] = [Object.keys(a), Object.keys(b)];
    this.take(names.length + others.length);
    const [one, other] = [a, b] as [Fields, Fields];
    return (
      Array.isArray(a) === Array.isArray(b) &&
      names.length === others.length &&
      names.every((name) => Object.hasOwn(other, name) && this.isEqual(one[name]!, other[name]!))
    );
  }

  /** Whether a text contains another one. */
  includes(text: string, part: string): boolean {
    const each = part.length <= maxFastText ? 1 : part.length;
    this.take(1 + Math.floor((text.length * each) / charactersEach));
    return text.includes(part);
  }

  /** Divides a text, as long as there are comparisons left for its parts. */
  split(text: string): string[] {
    const parts = text.split(',', maxComparisons - this.#steps + 1);
    this.take(parts.length);
    return parts.map((part) => part.trim());
  }
}

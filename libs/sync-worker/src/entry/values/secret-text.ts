import { comparedText, parseExactly, pushedText } from '@secrets/domain';

/** A secret's data as JSON text, parsed at most once. */
export class SecretText {
  readonly #text: string;
  #data: Record<string, unknown> | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  /**
   * Returns the value of an external secret: all of the data, or at secret-key granularity the value of one key, where a
   * string is returned as it is and anything else as JSON. Undefined if the key is missing.
   */
  pushedValue(subKey: string): string | undefined {
    if (subKey === '') return this.#text;
    const value = this.#valueOf(subKey);
    return value === undefined ? undefined : pushedText(value);
  }

  /** Returns a text that is equal for equal values (`comparedText`). Undefined if the key is missing. */
  comparedValue(subKey: string): string | undefined {
    const value = subKey === '' ? this.#parsed() : this.#valueOf(subKey);
    return value === undefined ? undefined : comparedText(value);
  }

  #valueOf(subKey: string): unknown {
    const data = this.#parsed();
    return Object.hasOwn(data, subKey) ? data[subKey] : undefined;
  }

  #parsed(): Record<string, unknown> {
    this.#data ??= parseExactly(this.#text) as Record<string, unknown>;
    return this.#data;
  }
}

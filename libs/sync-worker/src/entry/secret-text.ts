import { parseExactly, pushedText } from '@secrets/domain';

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
    this.#data ??= parseExactly(this.#text) as Record<string, unknown>;
    if (!Object.hasOwn(this.#data, subKey)) return undefined;
    return pushedText(this.#data[subKey]);
  }
}

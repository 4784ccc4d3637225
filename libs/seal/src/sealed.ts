import { inspect } from 'node:util';

const mask = '*****';

/**
 * A secret on its way through the code. Printing, logging and serialising give asterisks; the value comes out
 * only through `reveal()`, which is easy to search for.
 */
export class Sealed<T> {
  readonly #value: T;

  constructor(value: T) {
    this.#value = value;
  }

  reveal(): T {
    return this.#value;
  }

  toString(): string {
    return mask;
  }

  toJSON(): string {
    return mask;
  }

  [inspect.custom](): string {
    return mask;
  }
}

export const seal = <T>(value: T): Sealed<T> => new Sealed(value);

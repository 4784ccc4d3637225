import { inspect } from 'node:util';

const mask = '*****';

/**
 * A secret value in memory. Printing, logging and serialising it yields asterisks. Only `reveal()`, which is easy to search
 * for, returns the value.
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

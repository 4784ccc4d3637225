/** Whether each key of each secret of a sequence is written in capitals. */
export class Spelling {
  /** By the number of the secret: its keys that are in capitals. */
  readonly #capitals = new Map<number, Set<string>>();

  /** Changes the spelling of a key in all later data. */
  change({ secret, key }: { secret: number; key: string }): void {
    const capitals = this.#capitals.get(secret) ?? new Set();
    if (!capitals.delete(key)) capitals.add(key);
    this.#capitals.set(secret, capitals);
  }

  /** Returns the data with its keys, in either spelling, as they are spelt now. */
  spell<Value>({ secret, data }: { secret: number; data: Record<string, Value> }): Record<string, Value> {
    const capitals = this.#capitals.get(secret);
    return Object.fromEntries(
      Object.entries(data).map(([key, value]) => {
        const small = key.toLowerCase();
        return [capitals?.has(small) ? small.toUpperCase() : small, value];
      }),
    );
  }

  /** Returns the data as `spell` does, with the other spelling of each key removed: its respelling may be lost. */
  spellPatch({ secret, data }: { secret: number; data: Record<string, string | null> }) {
    const spelt = this.spell({ secret, data });
    const others = Object.keys(spelt).map((key) => {
      const small = key.toLowerCase();
      return [key === small ? small.toUpperCase() : small, null];
    });
    return { ...Object.fromEntries(others), ...spelt };
  }
}

import { type Resource, resourceFrom } from './resource.ts';

const MAX_RESOURCES = 10_000;

/** The resources that exist, by their ID, whose case does not matter. */
export class ResourceInventory {
  readonly #seed: string;
  readonly #defaults: readonly Resource[];
  readonly #persist: (record: object) => void;
  #byId = new Map<string, Resource>();

  constructor(seed: string, defaults: readonly unknown[], persist: (record: object) => void) {
    this.#seed = seed;
    this.#defaults = defaults.map((spec) => resourceFrom(spec, seed));
    this.#persist = persist;
    this.restoreDefaults();
  }

  /**
   * Adds a resource, or replaces the one with its ID.
   * @throws ZodError if it is invalid; RangeError if there are 10,000 resources already
   */
  put(spec: unknown): Resource {
    const resource = resourceFrom(spec, this.#seed);
    if (!this.find(resource.id) && this.#byId.size >= MAX_RESOURCES)
      throw new RangeError(`at most ${MAX_RESOURCES} resources can exist`);
    this.#persist({ resource });
    this.#set(resource);
    return resource;
  }

  /** Returns whether it existed. */
  remove(id: string): boolean {
    const existed = this.#byId.delete(id.toLowerCase());
    if (existed) this.#persist({ removedResource: id });
    return existed;
  }

  find(id: string): Resource | undefined {
    return this.#byId.get(id.toLowerCase());
  }

  /** In the order in which they were added. */
  all(): Resource[] {
    return [...this.#byId.values()];
  }

  restoreDefaults(): void {
    this.#byId = new Map();
    for (const resource of this.#defaults) this.#set(resource);
  }

  replay(record: object): void {
    if ('emptied' in record) this.#byId.clear();
    if ('resource' in record) this.#set(record.resource as Resource);
    if ('removedResource' in record) this.#byId.delete(String(record.removedResource).toLowerCase());
  }

  snapshot(): object[] {
    return this.all().map((resource) => ({ resource }));
  }

  #set(resource: Resource): void {
    this.#byId.set(resource.id.toLowerCase(), resource);
  }
}

import { createHash } from 'node:crypto';
import { errorInfo, GoogleError, notFound } from '../google-error.ts';

/** The projects of the sandbox. Requests may use their ID or their number; responses contain the number. */
export class Projects {
  readonly #numbers: ReadonlyMap<string, string>;
  readonly #disabled: ReadonlySet<string>;

  constructor(ids: readonly string[], disabled: readonly string[]) {
    this.#numbers = new Map([...ids, ...disabled].map((id) => [id, numberOf(id)]));
    this.#disabled = new Set(disabled);
  }

  /**
   * Returns the project's ID.
   * @throws GoogleError NOT_FOUND; PERMISSION_DENIED if the API is not enabled in the project
   */
  find(idOrNumber: string): string {
    const id = this.#numbers.has(idOrNumber)
      ? idOrNumber
      : [...this.#numbers].find(([, number]) => number === idOrNumber)?.[0];
    if (id === undefined) throw notFound(`Project [${idOrNumber}] not found or deleted.`);
    if (this.#disabled.has(id)) throw this.#apiDisabled(id);
    return id;
  }

  number(id: string): string {
    return this.#numbers.get(id) ?? numberOf(id);
  }

  #apiDisabled(id: string): GoogleError {
    const consumer = `projects/${this.number(id)}`;
    return new GoogleError(
      'PERMISSION_DENIED',
      `Secret Manager API has not been used in project ${this.number(id)} before or it is disabled.`,
      [errorInfo('SERVICE_DISABLED', { consumer })],
    );
  }
}

const numberOf = (id: string): string =>
  String(100_000_000_000 + (createHash('sha256').update(id).digest().readUIntBE(0, 6) % 900_000_000_000));

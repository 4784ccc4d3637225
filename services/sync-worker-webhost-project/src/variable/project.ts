import { Fault } from '@secrets/domain';
import type { ScopeMemory } from '@secrets/sync-worker';
import type { EnvironmentApi } from '../api/environment-api.ts';

/** An ID, not a name: https://vercel.com/docs/project-configuration/general-settings#project-id */
const idForm = /^(prj_[A-Za-z0-9]{20,}|Qm[A-Za-z0-9]{44})$/;

/**
 * For how long a name that was looked up is believed. Meanwhile, everything goes to the project with the ID, whoever
 * has the name.
 */
const validMs = 60_000;

/**
 * The project, which the settings denote by its ID or by its name. Its ID is remembered at the first contact, and
 * addresses it from then on.
 */
export class Project {
  readonly #api: EnvironmentApi;
  readonly #memory: ScopeMemory;
  readonly #given: string;
  #validUntilMs = 0;

  constructor(api: EnvironmentApi, memory: ScopeMemory) {
    this.#api = api;
    this.#memory = memory;
    this.#given = api.projectId;
  }

  /**
   * Requires that the name, if it is one, still denotes the remembered project. One that was renamed is followed,
   * unless another one has its name.
   * @throws {Fault} `rejected`
   */
  async require(signal: AbortSignal): Promise<void> {
    if (Date.now() < this.#validUntilMs) return;
    const isId = idForm.test(this.#given);
    const id = isId ? this.#given : await this.#api.idOf(this.#given, signal);
    if (id === undefined && this.#memory.id === null)
      throw new Fault(
        'rejected',
        `the project ${this.#given} does not exist; check project_id, team_id, and what the token may do there`,
        { mayPass: true },
      );
    if (id !== undefined)
      await this.#memory.require(id, { label: `the project ${this.#given}`, kind: 'project' });
    this.#api.projectId = this.#memory.id ?? this.#given;
    this.#validUntilMs = isId ? Number.POSITIVE_INFINITY : Date.now() + validMs;
  }

  /** Finds the project for a removal, also if another one has its name. */
  async find(signal: AbortSignal): Promise<void> {
    if (this.#memory.id === null) await this.require(signal);
    this.#api.projectId = this.#memory.id ?? this.#given;
  }
}

import { type Api, expectStatus } from '../harness/http.ts';
import type { Operation } from './operations.ts';
import { Spelling } from './spelling.ts';

/** An operation on a secret that does not depend on destinations. */
export type SecretOperation = Extract<Operation, { secret: number; destination?: never }>;

/** The secrets of a sequence, in a mount of their own. */
export class PlayedSecrets {
  readonly #api: Api;
  readonly #mount: string;
  readonly #spelling = new Spelling();

  constructor(api: Api, mount: string) {
    this.#api = api;
    this.#mount = mount;
  }

  async change(operation: SecretOperation): Promise<void> {
    const { act, secret } = operation;
    const at = (part: string) => `${this.#mount}/${part}/s${secret}`;
    switch (act) {
      case 'write':
        return this.#write(operation);
      case 'patch':
        return void (await this.#api('PATCH', at('data'), { data: this.#spelling.spellPatch(operation) }));
      case 'respell': {
        const data = await this.data(secret);
        if (data === undefined) return;
        this.#spelling.change(operation);
        return this.#write({ secret, data });
      }
      case 'delete':
        return void (await this.#api('DELETE', at('data')));
      case 'drop':
        return void expectStatus(await this.#api('DELETE', at('metadata')), 204);
      default: {
        const newest = (await this.#versions(secret)).at(-1);
        if (newest !== undefined) await this.#api('POST', at(act), { versions: [newest.version] });
      }
    }
  }

  async #write(written: { secret: number; data: Record<string, string> }): Promise<void> {
    const path = `${this.#mount}/data/s${written.secret}`;
    expectStatus(await this.#api('POST', path, { data: this.#spelling.spell(written) }), 200);
  }

  /** The data of the newest readable version; undefined if there is none. */
  async data(secret: number): Promise<Record<string, string> | undefined> {
    const version = (await this.#versions(secret)).findLast(({ isReadable }) => isReadable)?.version;
    if (version === undefined) return undefined;
    const { status, body } = await this.#api('GET', `${this.#mount}/data/s${secret}?version=${version}`);
    return status === 200 ? body.data.data : undefined; // 404: the version was lost meanwhile
  }

  async #versions(secret: number): Promise<{ version: number; isReadable: boolean }[]> {
    const { status, body } = await this.#api('GET', `${this.#mount}/metadata/s${secret}`);
    if (status !== 200) return [];
    const versions = Object.entries<{ deletion_time: string; destroyed: boolean }>(body.data.versions);
    return versions.map(([version, { deletion_time, destroyed }]) => ({
      version: Number(version),
      isReadable: deletion_time === '' && !destroyed,
    }));
  }
}

import { randomBytes } from 'node:crypto';
import { eventually, eventuallyEqual } from './eventually.ts';
import { type Answer, expectStatus } from './http.ts';
import type { Installation } from './installation.ts';

/** An associated secret, as the API presents it. */
interface AssociatedSecret {
  sync_status: string;
  external_name: string;
  updated_at: string;
  attempts: number;
  next_attempt_at: string | null;
  last_error: string | null;
  verified_at: string | null;
  drift: string | null;
  drift_seen_at: string | null;
  evidence: string | null;
}

type AssociatedSecrets = Record<string, AssociatedSecret>;

/** Secrets that an answer to set, remove or read of associations contains. */
export const associatedSecrets = ({ body }: Answer): AssociatedSecrets =>
  body?.data?.associated_secrets ?? {};

/** A mount and a destination of cloudA-sm with unique names. */
export class SyncFixture {
  readonly mount: string;
  readonly destination: string;
  /** `sys/sync/destinations/cloudA-sm/<destination>` */
  readonly path: string;
  readonly #system: Pick<Installation, 'api' | 'sandbox'>;
  #accessor = '';

  private constructor(system: Pick<Installation, 'api' | 'sandbox'>) {
    const tag = randomBytes(4).toString('hex');
    this.mount = `kv-${tag}`;
    this.destination = `d-${tag}`;
    this.path = `sys/sync/destinations/cloudA-sm/${this.destination}`;
    this.#system = system;
  }

  /** Creates both. `fields` are added to those of the destination, or replace them. */
  static async create(
    system: Pick<Installation, 'api' | 'sandbox'>,
    fields: object = {},
  ): Promise<SyncFixture> {
    const { api, sandbox } = system;
    const one = new SyncFixture(system);
    const mount = { type: 'kv', options: { version: '2' } };
    expectStatus(await api('POST', `sys/mounts/${one.mount}`, mount), 204);
    one.#accessor = expectStatus(await api('GET', `sys/mounts/${one.mount}`), 200).body.data.accessor;
    const destination = { ...(await sandbox.credentials()), region: 'eu-west-1', ...fields };
    expectStatus(await api('POST', one.path, destination), 200);
    return one;
  }

  /** Accessor of the mount. */
  get accessor(): string {
    return this.#accessor;
  }

  /** The name of a secret in the external store, by the default template. */
  externalName(name: string): string {
    return `secrets/${this.accessor}/${name}`;
  }

  write(name: string, data: object): Promise<Answer> {
    return this.#system.api('POST', `${this.mount}/data/${name}`, { data });
  }

  set(name: string, fields: object = {}, query = ''): Promise<Answer> {
    return this.#change('set', { secret_name: name, ...fields }, query);
  }

  remove(name: string, query = ''): Promise<Answer> {
    return this.#change('remove', { secret_name: name }, query);
  }

  #change(verb: 'set' | 'remove', fields: object, query: string): Promise<Answer> {
    const request = { mount: this.mount, ...fields };
    return this.#system.api('POST', `${this.path}/associations/${verb}${query}`, request);
  }

  /** Sets again until no secret is PENDING: on a slow machine, the sync takes longer than one request waits. */
  setAndWait(name: string, fields: object = {}): Promise<Answer> {
    return eventually(() => this.set(name, fields), isSettled);
  }

  /** Removes again until no secret is PENDING. */
  removeAndWait(name: string): Promise<Answer> {
    return eventually(() => this.remove(name), isSettled);
  }

  /** Writes a secret, sets it, and resolves when it is SYNCED. */
  async sync(name: string, data: object): Promise<void> {
    expectStatus(await this.write(name, data), 200);
    expectStatus(await this.set(name), 200);
    await this.untilStatus(name, 'SYNCED');
  }

  async associations(): Promise<AssociatedSecrets> {
    return associatedSecrets(await this.#system.api('GET', `${this.path}/associations`));
  }

  async association(name: string): Promise<AssociatedSecret | undefined> {
    return (await this.associations())[`${this.accessor}/${name}`];
  }

  /** The value in the external store; undefined if it has none. */
  async value(name: string): Promise<string | undefined> {
    return (await this.#system.sandbox.secrets())[this.externalName(name)]?.value;
  }

  untilStatus(name: string, status: string): Promise<void> {
    return eventuallyEqual(async () => (await this.association(name))?.sync_status, status);
  }

  untilValue(name: string, value: string | undefined): Promise<void> {
    return eventuallyEqual(() => this.value(name), value);
  }
}

const isSettled = (answer: Answer): boolean =>
  Object.values(associatedSecrets(answer)).every(({ sync_status: status }) => status !== 'PENDING');

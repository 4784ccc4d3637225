import { randomBytes } from 'node:crypto';
import { eventually } from './eventually.ts';
import { type Answer, send } from './http.ts';

const store = 'cloudA-sm';
/** More calls than any test makes: a fault with this limit never expires, and reports how often it was applied. */
const unlimited = 1_000_000;

/** A secret in the external store. */
interface ExternalSecret {
  value: string;
  tags: Record<string, string>;
  version_count: number;
}

/** A call that the external store has finished. */
interface StoreCall {
  operation: string;
  name?: string;
  outcome: number | string;
  /** The address that it came from. */
  peer?: string;
  /** When it arrived, as ISO 8601. */
  began: string;
  /** When it ended. */
  at: string;
  /** How many other calls with this name were in progress; absent if none. */
  concurrent?: number;
}

/** A fault of the external store. Where `effect: 'slow'` is used, applied calls are still in progress for that time. */
interface InjectedFault {
  /** Resolves when the fault was applied to this many calls. */
  applied(calls: number): Promise<void>;
  remove(): Promise<void>;
}

/** A client of the sandbox's control API (docs/sandbox.md) for the store cloudA-sm and the directory. */
export interface SandboxControl {
  /** Fields of a destination that the store accepts. */
  credentials(): Promise<{ access_key_id: string; secret_access_key: string }>;
  /** What the sandbox says of the store of a type: what its clients need. */
  store(type: string): Promise<Record<string, string>>;
  /** Names and values in the store of a type, also of stores whose API returns no values. */
  contents(type: string): Promise<Record<string, string>>;
  /** How many secrets the store of a type holds whose names match the pattern. */
  count(type: string, pattern: string): Promise<number>;
  /** The secret of that name in the store of a type, whatever its case. */
  find(type: string, name: string): Promise<ExternalSecret | undefined>;
  /** Changes a secret in the store of a type as somebody does beside the service; `value` is not used by `delete`. */
  changeByHand(
    type: string,
    name: string,
    action: 'edit' | 'delete' | 'recreate',
    value?: string,
  ): Promise<void>;
  /** The passwords of the directory's application. */
  passwords(): Promise<{ keyId: string; displayName: string }[]>;
  /** Adds a password of the application, which works at once, and returns its text. */
  addPassword(displayName: string): Promise<string>;
  directory(): Promise<{ tenant_id: string; identities: { name: string; oid: string }[] }>;
  /** Returns a JWT that the directory issues for these claims. */
  issueToken(claims: { audience: string } & ({ identity: string } | { oid: string })): Promise<string>;
  /** What the store holds, by name; without secrets that are scheduled for deletion. */
  secrets(): Promise<Record<string, ExternalSecret>>;
  /** The newest 10,000 finished calls of a store, oldest first. */
  calls(type?: string): Promise<StoreCall[]>;
  fault(spec: { effect: string; times?: number; [option: string]: unknown }): Promise<InjectedFault>;
  clearFaults(): Promise<void>;
}

/** Returns a client of the sandbox at this URL. */
export function sandboxControl(url: string): SandboxControl {
  const request = async (method: string, path: string, body?: unknown): Promise<Answer['body']> => {
    const answer = await send(`${url}/_sandbox/${path}`, method, { body });
    if (answer.status < 300) return answer.body;
    throw new Error(`the sandbox refused ${method} ${path}: ${JSON.stringify(answer.body)}`);
  };
  const named = async (type: string, pattern: string) =>
    (await request('GET', `stores?store=${type}&limit=100000&name=${encodeURIComponent(pattern)}`)).stores[
      type
    ].secrets;
  return {
    credentials: async () => {
      const { accessKeyId, secretAccessKey } = (await request('GET', 'about')).stores[store].credentials;
      return { access_key_id: accessKeyId, secret_access_key: secretAccessKey };
    },
    store: async (type) => (await request('GET', 'about')).stores[type].credentials,
    contents: async (type) => {
      const secrets = byName((await request('GET', `stores?store=${type}`)).stores[type].secrets);
      return Object.fromEntries(Object.entries(secrets).map(([name, { value }]) => [name, value]));
    },
    count: async (type, pattern) => Object.keys(byName(await named(type, pattern))).length,
    find: async (type, name) => Object.values(byName(await named(type, name)))[0],
    changeByHand: async (type, name, action, value = 'theirs') =>
      void (await request('POST', 'secrets', { store: type, name, action, value })),
    passwords: async () => (await request('GET', 'directory/passwords')).passwords,
    addPassword: async (displayName) => {
      const secretText = randomBytes(24).toString('base64url');
      await request('POST', 'directory/passwords', { displayName, secretText });
      return secretText;
    },
    directory: async () => (await request('GET', 'about')).directory,
    issueToken: async (claims) => (await request('POST', 'directory/token', claims)).token,
    secrets: async () => byName((await request('GET', `stores?store=${store}`)).stores[store].secrets),
    calls: async (type = store) => (await request('GET', `calls?store=${type}`)).calls,
    fault: async (spec) => {
      const times = spec.times ?? unlimited;
      const { id } = await request('POST', 'faults', { store, ...spec, times });
      const remaining = async () => remainingOf((await request('GET', 'faults')).faults, id);
      return {
        applied: async (calls) => void (await eventually(remaining, (left) => times - left >= calls)),
        remove: () => request('DELETE', `faults/${id}`),
      };
    },
    clearFaults: () => request('DELETE', 'faults'),
  };
}

/** A fault whose calls are used up is no longer listed. */
const remainingOf = (faults: { id: string; remaining: number }[], faultId: string): number =>
  faults.find(({ id }) => id === faultId)?.remaining ?? 0;

function byName(
  secrets: (ExternalSecret & { name: string; deleted_at: string | null })[],
): Record<string, ExternalSecret> {
  const active = secrets.filter(({ deleted_at }) => deleted_at === null);
  return Object.fromEntries(active.map((secret) => [secret.name, secret]));
}

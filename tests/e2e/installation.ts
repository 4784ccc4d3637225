import { randomBytes } from 'node:crypto';
import { type Answer, client, send } from '../../scripts/demo/http.ts';
import { type DemoService, ownService } from '../../scripts/demo/service.ts';

/** A whole system of a test file's own, driven only through the gateway; the sandbox shows what is outside. */
export interface Installation {
  service: DemoService;
  api: (method: string, path: string, body?: unknown) => Promise<Answer>;
  /** As another token. */
  as(token: string | undefined): Installation['api'];
  /** What an external store of cloudA-sm holds, by name. */
  outside(): Promise<Record<string, ExternalSecret>>;
  /** Calls of one operation that the store has answered so far. */
  calls(operation: string): Promise<number>;
  /** Orders a fault of the simulated store. */
  fault(spec: object): Promise<void>;
  clearFaults(): Promise<void>;
  stop(): Promise<void>;
}

export interface ExternalSecret {
  value: string;
  tags: Record<string, string>;
  version_count: number;
}

export async function startInstallation(): Promise<Installation> {
  const service = await ownService();
  const sandbox = (method: string, path: string, body?: unknown) =>
    send(`${service.sandboxUrl}${path}`, method, undefined, body);
  return {
    service,
    api: client(service.url, service.rootToken),
    as: (token) => client(service.url, token),
    outside: async () => {
      const { body } = await sandbox('GET', '/_sandbox/stores');
      const held: (ExternalSecret & { name: string; deleted_at: string | null })[] =
        body.stores['cloudA-sm'].secrets;
      return Object.fromEntries(
        held.filter(({ deleted_at }) => !deleted_at).map((secret) => [secret.name, secret]),
      );
    },
    calls: async (operation) => {
      const { body } = await sandbox('GET', '/_sandbox/calls?store=cloudA-sm&limit=1000');
      return body.calls.filter((call: { operation: string }) => call.operation === operation).length;
    },
    fault: async (spec) => {
      const { status, body } = await sandbox('POST', '/_sandbox/faults', { store: 'cloudA-sm', ...spec });
      if (status >= 300) throw new Error(`the fault was not taken: ${JSON.stringify(body)}`);
    },
    clearFaults: async () => void (await sandbox('DELETE', '/_sandbox/faults')),
    stop: service.stop,
  };
}

export interface Fixture {
  mount: string;
  accessor: string;
  destination: string;
  /** `sys/sync/destinations/cloudA-sm/<destination>` */
  path: string;
  /** Credentials that the store accepts. */
  keys: { access_key_id: string; secret_access_key: string };
}

/** A fresh mount and destination. */
export async function fixture({ api, service }: Installation, fields: object = {}): Promise<Fixture> {
  const tag = randomBytes(4).toString('hex');
  const [mount, destination] = [`kv-${tag}`, `d-${tag}`];
  const path = `sys/sync/destinations/cloudA-sm/${destination}`;
  expectStatus(await api('POST', `sys/mounts/${mount}`, { type: 'kv', options: { version: '2' } }), 204);
  const { body: about } = await send(`${service.sandboxUrl}/_sandbox/about`, 'GET');
  const { accessKeyId, secretAccessKey } = about.stores['cloudA-sm'].credentials;
  const keys = { access_key_id: accessKeyId, secret_access_key: secretAccessKey };
  expectStatus(await api('POST', path, { ...keys, region: 'eu-west-1', ...fields }), 200);
  const { body } = await api('GET', `sys/mounts/${mount}`);
  return { mount, accessor: body.data.accessor, destination, path, keys };
}

export function expectStatus(answer: Answer, status: number): Answer {
  if (answer.status === status) return answer;
  throw new Error(`expected ${status}, got ${answer.status}: ${JSON.stringify(answer.body)}`);
}

/** Looks until it is as expected; gives the last look, for the test to judge. */
export async function eventually<T>(
  look: () => Promise<T>,
  isSo: (value: T) => boolean,
  timeoutMs = 60_000,
): Promise<T> {
  const end = Date.now() + timeoutMs;
  for (;;) {
    const value = await look();
    if (isSo(value) || Date.now() > end) return value;
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
}

import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo, Server, Socket } from 'node:net';
import express from 'express';
import { controlRoutes } from './control/control-routes.ts';
import { answerFailure } from './control/error-handler.ts';
import { pageRoutes } from './control/page.ts';
import { type Directory, type DirectoryOptions, simulateDirectory } from './directory/directory.ts';
import { guidOf } from './directory/identity.ts';
import { Journal } from './simulation/journal.ts';
import type { SandboxTools, SimulatedStore, Simulation } from './simulation/simulation.ts';
import { simulatedStores } from './stores/simulated-stores.ts';

const MOST_CONNECTIONS = 2000;

type StoreMakers = typeof simulatedStores;
type StoreKey = keyof StoreMakers;
type Stores = { [Key in StoreKey]: ReturnType<StoreMakers[Key]> };
type StoreOptions = { [Key in StoreKey]?: NonNullable<Parameters<StoreMakers[Key]>[1]> };

export interface SandboxLog {
  info(fields: object, sentence: string): void;
}

export interface SandboxOptions extends StoreOptions {
  host?: string;
  /** 0, the default, takes a free one. */
  port?: number;
  /** Default: one that follows from the seed. */
  tenantId?: string;
  /** Credentials, tenant and identities follow from this text: the same text, the same ones. Default `sandbox`. */
  seed?: string;
  /** Where everything is kept; without it, nothing outlives the process. */
  dataFile?: string;
  directory?: DirectoryOptions;
  /** Milliseconds since the epoch, for everything but the freshness of signatures. */
  clock?: () => number;
  log?: SandboxLog;
}

export type Sandbox = Stores & { [Key in StoreKey as `${Key}Url`]: string } & {
  url: string;
  directory: Directory;
  /** Base of the directory's tenants: `<directoryUrl>/<tenantId>/v2.0/.well-known/openid-configuration`. */
  directoryUrl: string;
  tenantId: string;
  credentials: { [Key in StoreKey]: Stores[Key]['credentials'] };
  /** Everything behind one listener, to be mounted elsewhere. */
  handler: RequestListener;
  /** Forgets every store's contents, and all faults and calls. */
  reset(): void;
  /** Ends every connection, the silent ones too, and closes the file. */
  stop(): Promise<void>;
};

/**
 * Starts the simulated external stores and the simulated identity directory on one port.
 * @throws when the port is taken or `dataFile` cannot be read or written
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { host = '127.0.0.1', port = 0, seed = 'sandbox', clock = Date.now } = options;
  const tenantId = options.tenantId ?? guidOf(`tenant ${seed}`);
  let journal: Journal | undefined;
  const toolsFor = (of: string): SandboxTools => ({
    seed,
    now: clock,
    keep: (record) => journal?.keep({ of, record }),
  });
  const stores = makeStores(toolsFor, options);
  const directory = simulateDirectory(toolsFor('directory'), tenantId, options.directory);
  const simulations = new Map<string, Simulation>([
    ...Object.entries<SimulatedStore>(stores),
    ['directory', directory],
  ]);
  if (options.dataFile !== undefined) journal = openJournal(options.dataFile, simulations);
  await directory.prepare();
  const handler = compose(Object.values<SimulatedStore>(stores), directory);
  const server = await listening(handler, host, port);
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${(server.address() as AddressInfo).port}`;
  options.log?.info({ url, tenantId }, 'sandbox ready');
  return {
    ...stores,
    ...urlsOf(stores, url),
    url,
    directory,
    directoryUrl: `${url}${directory.path}`,
    tenantId,
    credentials: eachStore(stores, (store) => store.credentials) as Sandbox['credentials'],
    handler,
    reset: () => {
      for (const simulation of simulations.values()) simulation.reset();
    },
    stop: async () => {
      await closed(server);
      journal?.close();
      journal = undefined;
    },
  };
}

type AnyMaker = (tools: SandboxTools, options?: never) => SimulatedStore;

function makeStores(toolsFor: (of: string) => SandboxTools, options: StoreOptions): Stores {
  const made = Object.entries<AnyMaker>(simulatedStores).map(([key, make]) => [
    key,
    make(toolsFor(key), options[key as StoreKey] as never),
  ]);
  return Object.fromEntries(made) as Stores;
}

function eachStore<Result>(stores: Stores, pick: (store: SimulatedStore) => Result): Record<string, Result> {
  return Object.fromEntries(Object.entries<SimulatedStore>(stores).map(([key, store]) => [key, pick(store)]));
}

function urlsOf(stores: Stores, url: string) {
  const urls = Object.entries<SimulatedStore>(stores).map(([key, store]) => [
    `${key}Url`,
    `${url}${store.path}`,
  ]);
  return Object.fromEntries(urls) as { [Key in StoreKey as `${Key}Url`]: string };
}

function openJournal(file: string, owners: ReadonlyMap<string, Simulation>): Journal {
  return Journal.open(
    file,
    ({ of, record }) => owners.get(of)?.replay(record),
    function* () {
      for (const [of, simulation] of owners) for (const record of simulation.snapshot()) yield { of, record };
    },
  );
}

function compose(stores: readonly SimulatedStore[], directory: Directory): express.Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  for (const store of stores) app.use(store.path, store.routes);
  app.use(directory.routes);
  app.use(controlRoutes(stores, directory));
  app.use(pageRoutes());
  app.use(answerFailure);
  return app;
}

function listening(
  handler: RequestListener,
  host: string,
  port: number,
): Promise<Server & { closeAllConnections(): void }> {
  const server = createServer(
    { requestTimeout: 30_000, headersTimeout: 10_000, keepAliveTimeout: 60_000 },
    handler,
  );
  server.maxConnections = MOST_CONNECTIONS;
  server.on('clientError', (_error, socket) => (socket as Socket).destroy());
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => resolve(server));
  });
}

function closed(server: Server & { closeAllConnections(): void }): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

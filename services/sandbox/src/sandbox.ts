import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { foreignRequests } from '@secrets/http';
import express from 'express';
import type { CloudSimulations } from './control/cloud-routes.ts';
import { controlRoutes } from './control/control-routes.ts';
import { errorHandler } from './control/error-handler.ts';
import { pageRoutes } from './control/page.ts';
import { type Directory, type DirectoryOptions, simulateDirectory } from './directory/directory.ts';
import { guidFrom } from './directory/identity.ts';
import { FederatedCredentials } from './federation/federated-credential.ts';
import { simulateGraph } from './graph/simulate-graph.ts';
import { identitiesOn } from './resource-manager/resources/identities.ts';
import { instanceFrom } from './resource-manager/resources/instances.ts';
import {
  createInventory,
  type ResourceManager,
  type ResourceManagerOptions,
  simulateResourceManager,
} from './resource-manager/simulate-resource-manager.ts';
import { providerPath, type SignInProvider, signInAt, signInRoutes } from './sign-in/provider.ts';
import { Journal } from './simulation/journal.ts';
import type { Simulation, SimulationContext } from './simulation/simulation.ts';
import type { SimulatedStore, StoreContext } from './stores/simulated-store.ts';
import { simulatedStores } from './stores/simulated-stores.ts';

const MAX_CONNECTIONS = 2000;

type StoreFactories = typeof simulatedStores;
type StoreKey = keyof StoreFactories;
type Stores = { [Key in StoreKey]: ReturnType<StoreFactories[Key]> };
type StoreOptions = { [Key in StoreKey]?: NonNullable<Parameters<StoreFactories[Key]>[1]> };

export interface SandboxOptions extends StoreOptions {
  /** Default `127.0.0.1`. */
  host?: string;
  /** Default 0: any free port. */
  port?: number;
  /** Default: derived from the seed. */
  tenantId?: string;
  /** Credentials, tenant and identities are derived from this text. Default `sandbox`. */
  seed?: string;
  /** Names by which clients reach the sandbox, besides those of the machine. */
  allowedHosts?: readonly string[];
  /** The file that keeps the state across restarts; without it, the state is only in memory. */
  dataFile?: string;
  directory?: DirectoryOptions;
  resourceManager?: ResourceManagerOptions;
  /** Milliseconds since the epoch. Signatures are always checked against the system clock. */
  clock?: () => number;
}

export type Sandbox = Stores & { [Key in StoreKey as `${Key}Url`]: string } & {
  url: string;
  directory: Directory;
  /** Which identity tokens the stores trust. They are kept when the sandbox is reset. */
  federation: FederatedCredentials;
  /** Base URL of the directory's tenants: `<directoryUrl>/<tenantId>/v2.0/.well-known/openid-configuration`. */
  directoryUrl: string;
  /** The resources of the simulated cloud, and who may read them. */
  resourceManager: ResourceManager;
  /** Base URL of the resource API. */
  resourceManagerUrl: string;
  /** Its operations change the passwords in `directory`. */
  graph: Simulation;
  /** Base URL of Graph, without its version. */
  graphUrl: string;
  /** The provider at which people sign in. */
  signIn: SignInProvider;
  tenantId: string;
  credentials: { [Key in StoreKey]: Stores[Key]['credentials'] };
  /** Discards the contents of every store, and all faults and calls. */
  reset(): void;
  /** Closes every connection, including unanswered ones, and the data file. */
  stop(): Promise<void>;
};

/**
 * Starts the simulated external stores and the simulated identity directory on one port.
 * @throws if the port is in use, or `dataFile` cannot be read or written
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { host = '127.0.0.1', port = 0, seed = 'sandbox', clock = Date.now } = options;
  const tenantId = options.tenantId ?? guidFrom(`tenant ${seed}`);
  let journal: Journal | undefined;
  const contextFor = (key: string): SimulationContext => ({
    seed,
    now: clock,
    persist: (record) => journal?.append({ of: key, record }),
  });
  const cloud = createCloud(contextFor, tenantId, options);
  const { directory, federation, resourceManager, graph } = cloud;
  const stores = createStores((key) => ({ ...contextFor(key), directory, federation }), options);
  const simulations = simulationsOf(stores, cloud);
  if (options.dataFile !== undefined) journal = openJournal(options.dataFile, { ...simulations, federation });
  await directory.prepare();
  const server: Server = await listen(
    createApp(stores, cloud, { ...options, url: () => urlOf(server, host) }),
    host,
    port,
  );
  const url = urlOf(server, host);
  return {
    ...stores,
    ...storeUrls(stores, url),
    url,
    directory,
    federation,
    directoryUrl: `${url}${directory.path}`,
    resourceManager,
    resourceManagerUrl: `${url}${resourceManager.path}`,
    graph,
    graphUrl: `${url}${graph.path}`,
    signIn: signInAt(url),
    tenantId,
    credentials: storeCredentials(stores),
    reset: () => {
      for (const simulation of Object.values(simulations)) simulation.reset();
    },
    stop: async () => {
      await close(server);
      journal?.close();
      journal = undefined;
    },
  };
}

/** The simulations that a cloud's stores and the login of its machines have in common. */
function createCloud(
  contextFor: (key: string) => SimulationContext,
  tenantId: string,
  options: SandboxOptions,
): CloudSimulations {
  const federation = new FederatedCredentials(contextFor('federation').persist);
  const context = contextFor('resource-manager');
  const inventory = createInventory(context, options.resourceManager);
  const directory = simulateDirectory(
    {
      ...contextFor('directory'),
      federation,
      identities: () => identitiesOn(inventory),
      instanceOf: (id) => instanceFrom(inventory, id),
    },
    tenantId,
    options.directory,
  );
  const resourceManager = simulateResourceManager(
    { ...context, directory, inventory },
    options.resourceManager,
  );
  const graph = simulateGraph({ now: context.now, directory });
  return { directory, federation, resourceManager, graph };
}

const simulationsOf = (
  stores: Stores,
  { directory, resourceManager, graph }: CloudSimulations,
): Record<string, Simulation> => ({ ...stores, directory, 'resource-manager': resourceManager, graph });

type AnyStoreFactory = (context: StoreContext, options?: never) => SimulatedStore;

function createStores(contextFor: (key: string) => StoreContext, options: StoreOptions): Stores {
  const stores = Object.entries<AnyStoreFactory>(simulatedStores).map(([key, create]) => [
    key,
    create(contextFor(key), options[key as StoreKey] as never),
  ]);
  return Object.fromEntries(stores) as Stores;
}

function storeUrls(stores: Stores, url: string) {
  const urls = Object.entries<SimulatedStore>(stores).map(([key, { path }]) => [
    `${key}Url`,
    `${url}${path}`,
  ]);
  return Object.fromEntries(urls) as { [Key in StoreKey as `${Key}Url`]: string };
}

function storeCredentials(stores: Stores): Sandbox['credentials'] {
  const credentials = Object.entries<SimulatedStore>(stores).map(([key, store]) => [key, store.credentials]);
  return Object.fromEntries(credentials) as Sandbox['credentials'];
}

type Journaled = Pick<Simulation, 'replay' | 'snapshot'>;

function openJournal(file: string, simulations: Readonly<Record<string, Journaled>>): Journal {
  return Journal.open(
    file,
    ({ of, record }) => simulations[of]?.replay(record),
    function* () {
      for (const [of, simulation] of Object.entries(simulations))
        for (const record of simulation.snapshot()) yield { of, record };
    },
  );
}

function createApp(
  named: Stores,
  cloud: CloudSimulations,
  { allowedHosts = [], url }: SandboxOptions & { url: () => string },
): express.Express {
  const stores = Object.values<SimulatedStore>(named);
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.use(refuseForeign(allowedHosts));
  for (const store of stores) app.use(store.path, store.routes);
  for (const { rootRoutes } of stores) if (rootRoutes !== undefined) app.use(rootRoutes);
  app.use(cloud.resourceManager.path, cloud.resourceManager.routes);
  app.use(cloud.graph.path, cloud.graph.routes);
  app.use(cloud.directory.routes);
  app.use(providerPath, signInRoutes(url));
  app.use(controlRoutes(stores, cloud));
  app.use(pageRoutes());
  app.use(errorHandler);
  return app;
}

/** Values are readable and tokens available to whoever reaches the sandbox. Pages that a developer visits must not. */
function refuseForeign(allowedHosts: readonly string[]): express.RequestHandler {
  const why = foreignRequests({ allowedHosts, isGuarded: (path) => /^\/+_sandbox(\/|$)/i.test(path) });
  return (request, response, next) => {
    const reason = why(request);
    if (reason === undefined) next();
    else response.status(403).json({ errors: [reason] });
  };
}

function listen(listener: RequestListener, host: string, port: number): Promise<Server> {
  const server = createServer(
    { requestTimeout: 30_000, headersTimeout: 10_000, keepAliveTimeout: 60_000 },
    listener,
  );
  server.maxConnections = MAX_CONNECTIONS;
  server.on('clientError', (_error, socket) => socket.destroy());
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => resolve(server));
  });
}

function urlOf(server: Server, host: string): string {
  const { port } = server.address() as AddressInfo;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { fileURLToPath } from 'node:url';
import {
  type Authenticator,
  addressRanges,
  createAuthenticator,
  type OwningService,
  owningServices,
  reportingRowGuard,
  requireSpaceToWrap,
} from '@secrets/access';
import type { InternalKeys } from '@secrets/caller';
import type { Db } from '@secrets/db';
import {
  type Endpoint,
  endpointServer,
  foreignRequests,
  type InternalClient,
  type InternalTls,
  internalClient,
  operatorApp,
  type ServeRequest,
  type ServerOptions,
  type Service,
  type Upgrades,
  type WhyForeign,
} from '@secrets/http';
import type { KeyRing } from '@secrets/seal';
import type { Audit, Logger, Metrics } from '@secrets/telemetry';
import type { Express } from 'express';
import { auditHash } from './audit/audit-hash.ts';
import { writeUnparsed } from './audit/audit-trail.ts';
import { openConsole } from './console/open-console.ts';
import { requestHandler } from './handle-request.ts';
import { clusterStatus, leader } from './local/cluster-status.ts';
import { apiDescription } from './local/describe-api.ts';
import type { Documents } from './local/documents.ts';
import { databaseCheck, healthOf } from './local/health.ts';
import { localEndpoints } from './local/local-endpoints.ts';
import { sealRotations } from './local/seal-rotation.ts';
import { pathPrefix } from './request/gateway-request.ts';
import { type BodyOptions, bodyReader } from './request/read-body.ts';
import { type GatewaySettings, ratesOf } from './settings.ts';
import { LongResponses, subscriptionLimits } from './streams/long-responses.ts';
import { asksForWebSocket, UpgradeResponse } from './streams/websocket/upgrade-response.ts';
import { countingFailures } from './telemetry/audit-failures.ts';
import { failureLog } from './telemetry/failure-log.ts';
import { gatewayMetrics } from './telemetry/gateway-metrics.ts';
import { directExchange } from './upstream/direct-exchange.ts';
import { exchangingUpstream } from './upstream/exchange.ts';
import { framedUpstream } from './upstream/frame-exchange.ts';
import { openUpstream, type Upstream } from './upstream/upstream.ts';
import type { ResponseStore } from './wrapping/forward-wrapped.ts';

export { gatewayEnv, tlsFiles } from './settings.ts';
export { observeCertificate } from './telemetry/certificate-expiry.ts';

export interface GatewayDeps {
  db: Db;
  keys: InternalKeys;
  audit: Audit;
  log: Logger;
  metrics: Metrics;
  /** Undefined if rows of the database are not protected. */
  rowKeys?: KeyRing | undefined;
  /** For calls of the other services. */
  tls?: InternalTls | undefined;
}

export interface GatewayConfig {
  /** Base URL of each service. */
  upstreams: Record<OwningService, string>;
  /** The services that are in this process. */
  direct?: Readonly<Partial<Record<OwningService, ServeRequest>>>;
  settings: GatewaySettings;
  /** Names by which clients reach the gateway, besides those of the machine; undefined if names are not checked. */
  allowedHosts?: readonly string[] | undefined;
  /** How long a service may take before the client gets status 503. Default 30,000. */
  upstreamTimeoutMs?: number;
  /** How long the body of a request without a token may take. Default 10,000. */
  publicTimeoutMs?: number;
  /** Folder of the console; by default, that of the build. If there is none in it, `/ui/` says so. */
  consoleFolder?: string;
}

/** The console that the build has made: in `services/` and, for an image, next to the gateway. */
const builtConsole = fileURLToPath(new URL('../../console/dist', import.meta.url));

/** The gateway. `app` is the public API, to be served with the LIST verb; `internal` is for operators, on an internal port. */
export interface Gateway extends Service<RequestListener> {
  internal: Express;
  /** Path of the console; undefined if it is not served. */
  consolePath: string | undefined;
  /** Writes the audit line of a request that is refused because it is not valid HTTP: an option of the server. */
  onUnparsed: NonNullable<ServerOptions['onUnparsed']>;
}

/** Creates the only public service. It checks token and policy, writes the audit, and routes requests. It owns no tables. */
export function createGateway(deps: GatewayDeps, config: GatewayConfig): Gateway {
  const { settings } = config;
  const upstreams = openUpstreams(deps, config);
  const all = Object.values(upstreams);
  const audit = { log: countingFailures(deps.audit, deps.metrics), hash: auditHash(deps.keys) };
  const heldBytes = deps.metrics.gauge('gateway_body_bytes', 'Bytes of request bodies in memory');
  const clients = openClients(deps, config);
  const longResponses = deps.metrics.gauge('gateway_event_streams', 'Clients that follow events, or wait');
  const whyForeign = foreignCheck(config);
  const authenticator = authenticatorOf(deps, settings);
  const documents = documentsOf(deps, all, () => endpoints);
  const endpoints = localEndpoints({
    settings,
    documents,
    devices: deps.audit.devices,
    auditHash: audit.hash,
    sealKeys: sealRotations(Object.entries(clients).map(([name, client]) => ({ name, client }))),
  });
  const handle = requestHandler({
    origin: { trustedProxies: addressRanges(settings.TRUSTED_PROXIES), whyForeign },
    authenticator,
    audit,
    bodies: bodyReader(bodyOptions(config), (bytes) => heldBytes.set(bytes)),
    responders: {
      local: { health: documents.health, serve: endpointServer(endpoints, deps.log) },
      upstreams,
      ...longOnes(authenticator, (count) => longResponses.set(count)),
      wrapped: responseStore(deps, clients.login),
    },
    observe: { metrics: gatewayMetrics(deps.metrics), failure: failureLog(deps.log) },
  });
  const console = openConsole(consoleFolder(config), deps.log);
  return {
    // Without Express: there is nothing to route, and its router is a measurable part of the cost of a request.
    app: Object.assign(
      (request: IncomingMessage, response: ServerResponse) => {
        if (isForConsole(request) && !whyForeign(request) && console.serve(request, response)) return;
        void handle(request, response).catch(() => response.destroy());
      },
      { upgrades: webSockets(handle) },
    ),
    consolePath: console.path,
    onUnparsed: (refused) => writeUnparsed(audit.log, refused),
    internal: operatorsOf(deps),
    start: async () => undefined,
    stop: async () => {
      await Promise.all([...all, ...Object.values(clients)].map((one) => one.close()));
    },
  };
}

const authenticatorOf = (deps: GatewayDeps, settings: GatewaySettings) =>
  createAuthenticator({ ...deps, rows: reportingRowGuard(deps), limits: ratesOf(settings) });

const operatorsOf = ({ db, metrics }: GatewayDeps): Express =>
  operatorApp({ metrics, readiness: { database: databaseCheck(db) }, databaseTime: db.now });

function responseStore({ db, metrics }: GatewayDeps, login: InternalClient): ResponseStore {
  const refused = metrics.counter(
    'gateway_wraps_refused_total',
    'Responses that were not wrapped because those of their namespace take too much space',
  );
  return {
    requireSpace: (namespaceId) => requireSpaceToWrap(db, namespaceId),
    login,
    onRefused: () => refused.inc(),
  };
}

function documentsOf(
  { db, keys }: GatewayDeps,
  upstreams: readonly Upstream[],
  endpoints: () => readonly Endpoint[],
): Documents {
  const [status, health] = [clusterStatus(keys), healthOf(db, upstreams)];
  return {
    health: async () => status.health(await health()),
    sealStatus: async () => status.sealStatus,
    leader: async () => leader,
    init: async () => ({ initialized: true }),
    description: apiDescription(upstreams, endpoints),
  };
}

const bodyOptions = ({ settings, publicTimeoutMs }: GatewayConfig): BodyOptions => ({
  memoryBytes: settings.BODY_MEMORY_MIB * 2 ** 20,
  ...(publicTimeoutMs !== undefined && { publicTimeoutMs }),
});

const consoleFolder = ({ settings, consoleFolder = builtConsole }: GatewayConfig): string | undefined =>
  settings.CONSOLE ? consoleFolder : undefined;

const foreignCheck = ({ allowedHosts }: GatewayConfig): WhyForeign =>
  allowedHosts === undefined ? () => undefined : foreignRequests({ allowedHosts });

function longOnes(authenticator: Authenticator, observe: (count: number) => void) {
  const counts = { long: 0, subscriptions: 0 };
  const observeOne = (kind: keyof typeof counts) => (count: number) => {
    counts[kind] = count;
    observe(counts.long + counts.subscriptions);
  };
  return {
    long: new LongResponses(authenticator, observeOne('long')),
    subscriptions: new LongResponses(authenticator, observeOne('subscriptions'), subscriptionLimits),
  };
}

/** Requests that ask for a WebSocket are handled like all others, with another kind of response. */
const webSockets = (
  handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): Upgrades => ({
  accepts: asksForWebSocket,
  respond: (request, connection, received) => {
    const response = new UpgradeResponse(request, connection, received);
    void handle(request, response).catch(() => connection.destroy());
    return response;
  },
});

const isForConsole = ({ url }: IncomingMessage): boolean => !url?.startsWith(pathPrefix);

type Calls = Pick<GatewayDeps, 'keys' | 'tls'>;

function openUpstreams(
  { keys, tls }: Calls,
  { upstreams, direct, upstreamTimeoutMs: timeoutMs }: GatewayConfig,
) {
  const open = (name: OwningService) => {
    const options = { url: upstreams[name], keys, tls, ...(timeoutMs === undefined ? {} : { timeoutMs }) };
    const serve = direct?.[name];
    return serve === undefined
      ? framedUpstream(name, options)
      : exchangingUpstream(directExchange(serve), openUpstream(name, options));
  };
  return Object.fromEntries(owningServices.map((name) => [name, open(name)])) as Record<
    OwningService,
    Upstream
  >;
}

/** For requests of the gateway itself. */
const openClients = ({ keys, tls }: Calls, { upstreams }: GatewayConfig) =>
  Object.fromEntries(
    owningServices.map((to) => [to, internalClient({ from: 'gateway', to, url: upstreams[to], keys, tls })]),
  ) as Record<OwningService, InternalClient>;

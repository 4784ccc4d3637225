import express, { type Request, type Response } from 'express';
import type { JWK } from 'jose';
import { FaultInjector } from '../faults/fault-injector.ts';
import type { FederatedCredentials } from '../federation/federated-credential.ts';
import { whyTokenRefused } from '../federation/verify-federated-token.ts';
import { CallLog } from '../simulation/call-log.ts';
import {
  type ErrorResponses,
  type HttpResponse,
  jsonResponse,
  retryAfter,
} from '../simulation/http-response.ts';
import { type CallContext, serveCall } from '../simulation/serve-call.ts';
import type { Simulation, SimulationContext } from '../simulation/simulation.ts';
import { type Application, clientCredentialsToken, defaultApplication } from './client-credentials.ts';
import { discoveryDocument } from './discovery.ts';
import { guidFrom, type Identity } from './identity.ts';
import { metadataToken } from './instance-metadata.ts';
import { issueToken, type TokenOptions } from './issue-token.ts';
import { type KeyRecord, SigningKeys } from './signing-keys.ts';

const NAME = 'directory';

/** The simulated identity directory. The operations for faults are `discovery`, `keys`, `token` and `metadata-token`. */
export interface Directory extends Simulation {
  readonly tenantId: string;
  /** The managed identities of the resources; the first is the machine's own. */
  readonly identities: readonly Identity[];
  /** The application that may request tokens with its secret. */
  readonly application: Application;
  /** The keys that verify its tokens, newest first. */
  publishedKeys(): JWK[];
  /** Creates the first signing key, unless the journal restored one. */
  prepare(): Promise<void>;
  /**
   * Creates a key that signs from now on, and returns its ID. Older keys stay published unless `keepOlder` is false.
   */
  rotate(options?: { keepOlder?: boolean }): Promise<string>;
  /** Issues a token with any properties, valid or not. */
  issueToken(options: TokenOptions): Promise<string>;
  /**
   * Issues a token of one of the identities, with its actual claims.
   * @throws RangeError if there is no such identity
   */
  issueTokenFor(identityName: string, options: Omit<TokenOptions, 'oid'>): Promise<string>;
}

/** Simulates the identity directory, and the metadata service of an instance. */
export function simulateDirectory(
  context: SimulationContext & { federation: FederatedCredentials; identities: () => readonly Identity[] },
  tenantId: string,
): Directory {
  const keys = new SigningKeys();
  const faults = new FaultInjector(context.now);
  const log = new CallLog();
  const { identities } = context;
  const application = defaultApplication(context.seed);
  const rotate = async (keepsOlder: boolean) => {
    const record = await keys.rotate(keepsOlder);
    context.persist({ key: record });
    return record.kid;
  };
  const issue = (token: TokenOptions) => issueToken(keys, tenantId, token, context.now());
  const calls = { store: NAME, faults, calls: log, now: context.now, errors };
  return {
    name: NAME,
    path: '/directory',
    tenantId,
    get identities() {
      return identities();
    },
    application,
    publishedKeys: () => keys.published(),
    faults,
    routes: directoryRoutes({
      calls,
      keys,
      tenantId,
      identities,
      application,
      issue,
      federation: context.federation,
    }),
    calls: () => log.list(),
    prepare: async () => {
      if (keys.isEmpty) await rotate(false);
    },
    rotate: ({ keepOlder = true } = {}) => rotate(keepOlder),
    issueToken: issue,
    issueTokenFor: async (name, token) => issue({ ...claimsOf(identityNamed(identities(), name)), ...token }),
    reset: () => {
      faults.clear();
      log.clear();
    },
    replay: (record) => {
      if ('key' in record) keys.add(record.key as KeyRecord);
    },
    snapshot: () => keys.records().map((key) => ({ key })),
  };
}

interface DirectoryContext {
  calls: CallContext;
  keys: SigningKeys;
  tenantId: string;
  identities: () => readonly Identity[];
  application: Application;
  issue: (options: TokenOptions) => Promise<string>;
  federation: FederatedCredentials;
}

/** Routes relative to the sandbox's root: the directory's endpoints are its tenants and the instance metadata. */
function directoryRoutes(context: DirectoryContext): express.Router {
  const { calls, keys, tenantId } = context;
  const endpoint =
    (operation: string, handle: (request: Request) => HttpResponse | Promise<HttpResponse>) =>
    async (request: Request, response: Response) =>
      serveCall(calls, { operation, sent: Object.keys(request.query).slice(0, 32) }, response, () =>
        handle(request),
      );
  const forTenant = (content: (request: Request) => object) => (request: Request) =>
    request.params.tenant === tenantId
      ? jsonResponse(200, content(request))
      : unknownTenant(String(request.params.tenant));
  const discovery = (version: 1 | 2) =>
    endpoint(
      'discovery',
      forTenant((request) => discoveryDocument(tenantUrl(request, tenantId), tenantId, version)),
    );
  const publishedKeys = endpoint(
    'keys',
    forTenant(() => ({ keys: keys.published() })),
  );
  const form = express.urlencoded({ limit: '64kb', extended: false });
  const token = (version: 1 | 2) =>
    endpoint('token', (request) => applicationToken(context, version, request));
  const routes = express.Router();
  routes.get('/directory/:tenant/.well-known/openid-configuration', discovery(1));
  routes.get('/directory/:tenant/v2.0/.well-known/openid-configuration', discovery(2));
  routes.get('/directory/:tenant/discovery/keys', publishedKeys);
  routes.get('/directory/:tenant/discovery/v2.0/keys', publishedKeys);
  routes.post('/directory/:tenant/oauth2/token', form, token(1));
  routes.post('/directory/:tenant/oauth2/v2.0/token', form, token(2));
  routes.get(
    '/metadata/identity/oauth2/token',
    endpoint('metadata-token', (request) => instanceToken(context, request)),
  );
  return routes;
}

/** Tokens for most services, key vaults among them, have version 1, whichever endpoint issues them. */
function applicationToken(
  { tenantId, application, issue, federation, calls }: DirectoryContext,
  version: 1 | 2,
  request: Request,
): HttpResponse | Promise<HttpResponse> {
  if (request.params.tenant !== tenantId) return unknownTenant(String(request.params.tenant));
  const { clientId: appid, oid } = application;
  return clientCredentialsToken(request, version, {
    application,
    accepts: (assertion) => whyTokenRefused(assertion, federation.of('cloudB-kv'), calls.now()),
    issue: (audience, { expiresInSeconds, authenticatedBy }) => {
      const overrides = { appidacr: authenticatedBy === 'secret' ? '1' : '2' };
      return issue({ oid, appid, audience, expiresInSeconds, overrides });
    },
  });
}

function instanceToken(
  { calls, identities, issue }: DirectoryContext,
  request: Request,
): Promise<HttpResponse> {
  return metadataToken(request, identities(), calls.now(), (identity, audience, expiresInSeconds) =>
    issue({ ...claimsOf(identity), audience, expiresInSeconds }),
  );
}

/** An identity's claims. The token of a user-assigned identity also names the resource that it runs on. */
function claimsOf(identity: Identity): Omit<TokenOptions, 'audience'> {
  const { oid, appid, groups, resourceId, identityId } = identity;
  const resources =
    identityId === undefined ? { xms_mirid: resourceId } : { xms_mirid: identityId, xms_az_rid: resourceId };
  return { oid, appid, groups, ...resources };
}

function identityNamed(identities: readonly Identity[], name: string): Identity {
  const identity = identities.find((candidate) => candidate.name === name);
  if (!identity) throw new RangeError(`the directory has no identity ${name}`);
  return identity;
}

function tenantUrl(request: Request, tenantId: string): string {
  return `${request.protocol}://${request.header('host')}${request.baseUrl}/directory/${tenantId}`;
}

function unknownTenant(tenant: string): HttpResponse {
  const description = `AADSTS90002: Tenant '${tenant.slice(0, 64)}' not found.`;
  return jsonResponse(400, { error: 'invalid_tenant', error_description: description, error_codes: [90002] });
}

const error: ErrorResponses['error'] = (status, code, message) =>
  jsonResponse(status, { error: code, error_description: message, trace_id: guidFrom(message) });

const errors: ErrorResponses = {
  error,
  throttled: (seconds) =>
    jsonResponse(
      429,
      { error: 'temporarily_unavailable', error_description: 'AADSTS90055: too many requests.' },
      retryAfter(seconds),
    ),
  serverError: () => error(503, 'temporarily_unavailable', 'The service is temporarily unavailable.'),
  invalidSignature: () => error(401, 'invalid_client', 'AADSTS7000215: Invalid client secret provided.'),
};

import express, { type Request, type Response } from 'express';
import type { FederatedCredentials } from '../federation/federated-credential.ts';
import { whyTokenRefused } from '../federation/verify-federated-token.ts';
import {
  type ErrorResponses,
  type HttpResponse,
  jsonResponse,
  retryAfter,
} from '../simulation/http-response.ts';
import { type CallContext, serveCall } from '../simulation/serve-call.ts';
import type { Application } from './application/application.ts';
import type { ApplicationPasswords } from './application/application-passwords.ts';
import { clientCredentialsToken } from './application/client-credentials.ts';
import type { SettingsOfDirectory } from './directory-settings.ts';
import { discoveryDocument } from './discovery.ts';
import { guidFrom, type Identity } from './identity.ts';
import { claimsOf } from './identity-claims.ts';
import type { Instance } from './instance/instance.ts';
import { instanceDocument } from './instance/instance-document.ts';
import { instanceToken } from './instance/instance-token.ts';
import { issuerOf, type TokenOptions } from './issue-token.ts';
import type { SigningKeys } from './signing-keys.ts';

/** Dependencies of the directory's endpoints. */
export interface DirectoryRoutesContext {
  calls: CallContext;
  keys: SigningKeys;
  tenantId: string;
  issue: (options: TokenOptions) => Promise<string>;
  /** For tokens of managed identities. */
  metadata: {
    identities: () => readonly Identity[];
    instance: () => Instance | undefined;
    settings: SettingsOfDirectory;
  };
  /** For tokens of the application. */
  client: { application: Application; passwords: ApplicationPasswords; federation: FederatedCredentials };
}

type Handle = (request: Request) => HttpResponse | Promise<HttpResponse>;

/** Routes relative to the sandbox's root: the directory's endpoints are its tenants and the instance metadata. */
export function directoryRoutes(context: DirectoryRoutesContext): express.Router {
  const { calls, keys, tenantId } = context;
  const endpoint = (operation: string, handle: Handle) => async (request: Request, response: Response) =>
    serveCall(calls, { operation, sent: Object.keys(request.query).slice(0, 32) }, response, () =>
      handle(request),
    );
  const forTenant = (content: (request: Request) => object) => (request: Request) =>
    namesTenant(context, request)
      ? jsonResponse(200, content(request))
      : unknownTenant(String(request.params.tenant));
  const discovery = (version: 1 | 2) =>
    endpoint(
      'discovery',
      forTenant((request) => discoveryDocument(tenantUrl(request, tenantId), tenantId, version)),
    );
  const publishedKeys = endpoint(
    'keys',
    forTenant(() => ({
      keys: keys.published().map((key) => ({ ...key, issuer: issuerOf('{tenantid}', 2) })),
    })),
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
  routes.use('/metadata', metadataRoutes(context, endpoint));
  return routes;
}

function metadataRoutes(
  { calls, issue, metadata: { identities, instance, settings } }: DirectoryRoutesContext,
  endpoint: (operation: string, handle: Handle) => express.RequestHandler,
): express.Router {
  const routes = express.Router();
  const document = endpoint('metadata-instance', (request) => instanceDocument(request, instance()));
  routes.get('/instance', document);
  routes.get('/instance/compute', document);
  routes.get(
    '/identity/oauth2/token',
    endpoint('metadata-token', (request) =>
      instanceToken(request, {
        identities: identities(),
        instance: instance(),
        nowMs: calls.now(),
        issue: (identity, audience, expiresInSeconds) =>
          issue({ ...claimsOf(identity, settings.current), audience, expiresInSeconds }),
      }),
    ),
  );
  return routes;
}

/** A tenant has an ID, and domains: https://learn.microsoft.com/entra/identity-platform/v2-protocols#endpoints */
function namesTenant(
  { tenantId, metadata: { settings } }: DirectoryRoutesContext,
  { params: { tenant } }: Request,
): boolean {
  return tenant === tenantId || settings.current.domains.includes(String(tenant).toLowerCase());
}

/** Tokens for most services, key vaults among them, have version 1, whichever endpoint issues them. */
function applicationToken(
  context: DirectoryRoutesContext,
  version: 1 | 2,
  request: Request,
): HttpResponse | Promise<HttpResponse> {
  const { calls, issue, client } = context;
  const { application, passwords, federation } = client;
  if (!namesTenant(context, request)) return unknownTenant(String(request.params.tenant));
  const { clientId: appid, oid } = application;
  return clientCredentialsToken(request, version, {
    application,
    passwords,
    accepts: (assertion) => whyTokenRefused(assertion, federation.ofApplication(), calls.now()),
    issue: (audience, { expiresInSeconds, authenticatedBy }) => {
      const overrides = { appidacr: authenticatedBy === 'secret' ? '1' : '2' };
      return issue({ oid, appid, audience, expiresInSeconds, overrides });
    },
  });
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

/** The responses to injected faults. */
export const directoryErrors: ErrorResponses = {
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

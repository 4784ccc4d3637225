import express, { type Request, type RequestHandler, type Response } from 'express';
import type { Directory } from '../../directory/directory.ts';
import type { Lag } from '../../faults/fault-injector.ts';
import {
  type ErrorResponses,
  type HttpResponse,
  jsonResponse,
  retryAfter,
} from '../../simulation/http-response.ts';
import { type CallContext, serveCall } from '../../simulation/serve-call.ts';
import { type OperationContext, type OperationName, operations } from './operations.ts';
import type { Vaults } from './store/vaults.ts';
import { badParameter, forbidden, VaultError } from './vault-error.ts';
import { audienceOf, verifyToken } from './verify-token.ts';
import { errorResponse } from './wire-format.ts';

const MAX_BODY = '1mb';

/** The state of the simulated vaults that their endpoint uses. */
export interface VaultContext {
  calls: Omit<CallContext, 'errors'>;
  directory: Directory;
  vaults: Vaults;
  settings: Omit<OperationContext, 'vaults' | 'vault' | 'nowMs'>;
  /** Undefined without a firewall. */
  permittedAddresses: readonly string[] | undefined;
}

/**
 * Routes of all vaults. `X-Forwarded-Host`, or else the host, names the vault: a client may be redirected here from the
 * vault's own host.
 */
export function vaultRoutes(context: VaultContext): RequestHandler {
  const routes = express.Router();
  const on = (method: 'get' | 'put' | 'post' | 'patch' | 'delete', path: string, operation: OperationName) =>
    routes[method](path, (request: Request, response: Response) =>
      serve(context, operation, request, response),
    );
  routes.use(express.json({ limit: MAX_BODY }));
  on('get', '/secrets', 'GetSecrets');
  on('put', '/secrets/:name', 'SetSecret');
  on('get', '/secrets/:name', 'GetSecret');
  on('patch', '/secrets/:name', 'UpdateSecret');
  on('delete', '/secrets/:name', 'DeleteSecret');
  on('get', '/secrets/:name/versions', 'GetSecretVersions');
  on('get', '/secrets/:name/:version', 'GetSecret');
  on('patch', '/secrets/:name/:version', 'UpdateSecret');
  on('get', '/deletedsecrets', 'GetDeletedSecrets');
  on('get', '/deletedsecrets/:name', 'GetDeletedSecret');
  on('delete', '/deletedsecrets/:name', 'PurgeDeletedSecret');
  on('post', '/deletedsecrets/:name/recover', 'RecoverDeletedSecret');
  return routes;
}

function serve(
  { calls, ...context }: VaultContext,
  operation: OperationName,
  request: Request,
  response: Response,
): Promise<void> {
  const host = (request.header('x-forwarded-host') ?? request.hostname).slice(0, 255);
  const name = String(request.params.name ?? '').slice(0, 127);
  const call = { operation, region: host, sent: Object.keys(request.body ?? {}).slice(0, 32) };
  return serveCall(
    { ...calls, errors: errorsOf(context.directory, host) },
    name === '' ? call : { ...call, name },
    response,
    (lag) => perform({ calls, ...context }, operation, request, { host, lag }),
  );
}

async function perform(
  { calls, directory, vaults, settings, permittedAddresses }: VaultContext,
  operation: OperationName,
  request: Request,
  { host, lag }: { host: string; lag: Lag },
): Promise<HttpResponse> {
  requireAddress(permittedAddresses, request.socket.remoteAddress);
  const nowMs = calls.now();
  const current = vaults.of(host);
  const staleMs = lagOf(operation, lag);
  const vault = staleMs === 0 ? current : current.asOf(nowMs - staleMs);
  await verifyToken(request.header('authorization'), { directory, vaultHost: vault.host, nowMs });
  const { params, query, body } = request;
  if (!query['api-version']) throw badParameter('The request is missing the api-version query parameter.');
  const parts = { name: String(params.name ?? ''), version: String(params.version ?? ''), query, body };
  const content = operations[operation]({ ...settings, vaults, vault, nowMs }, parts);
  return content === undefined ? { status: 204, headers: {}, body: '' } : jsonResponse(200, content);
}

/**
 * The firewall decides before the token is verified
 * (https://learn.microsoft.com/azure/key-vault/general/authentication#the-key-vault-request-operation-flow-with-authentication,
 * https://learn.microsoft.com/azure/key-vault/general/rest-error-codes#error-due-to-firewall-policy).
 */
function requireAddress(permitted: readonly string[] | undefined, address = ''): void {
  const client = address.replace(/^::ffff:/, '');
  if (permitted === undefined || permitted.includes(client)) return;
  throw forbidden(
    'ForbiddenByFirewall',
    `Client address is not authorized and caller is not a trusted service. Client address: ${client}`,
  );
}

/**
 * A vault is replicated, and the provider documents no consistency of reads, so each may be behind
 * (https://learn.microsoft.com/azure/key-vault/general/disaster-recovery-guidance).
 */
function lagOf(operation: OperationName, { readMs, listMs }: Lag): number {
  if (!operation.startsWith('Get')) return 0;
  return operation === 'GetSecret' || operation === 'GetDeletedSecret' ? readMs : listMs;
}

/**
 * Where to get a token, and for what:
 * https://learn.microsoft.com/azure/key-vault/general/authentication-requests-and-responses
 */
function challengeFor({ status }: VaultError, { tenantId }: Directory, host: string): Record<string, string> {
  if (status !== 401) return {};
  const isVault = /\.(vault\.azure\.(net|cn)|vault\.usgovcloudapi\.net)$/i.test(host);
  const resource = audienceOf(isVault ? host.toLowerCase() : 'sandbox.vault.azure.net');
  return {
    'www-authenticate': `Bearer authorization="https://login.microsoftonline.com/${tenantId}", resource="${resource}"`,
  };
}

/** The general code of each status; the code of a fault then becomes the inner one. */
const generalCodes: Readonly<Record<number, string>> = {
  401: 'Unauthorized',
  403: 'Forbidden',
  409: 'Conflict',
};

function errorsOf(directory: Directory, host: string): ErrorResponses {
  const own = (error: VaultError) => errorResponse(error, challengeFor(error, directory, host));
  const failure = (status: number, code: string, message: string): HttpResponse => {
    const general = generalCodes[status] ?? code;
    return own(new VaultError(status, general, message, general === code ? undefined : code));
  };
  return {
    own: (error) => (error instanceof VaultError ? own(error) : undefined),
    error: failure,
    throttled: (seconds) =>
      errorResponse(
        new VaultError(
          429,
          'Throttled',
          'Request was not processed because too many requests were received.',
        ),
        retryAfter(seconds),
      ),
    serverError: () => failure(500, 'InternalServerError', 'The server encountered an internal error.'),
    invalidSignature: () =>
      failure(401, 'Unauthorized', 'AKV10046: Unable to resolve the key used for signature validation.'),
  };
}

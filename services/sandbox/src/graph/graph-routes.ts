import express, { type Request, type RequestHandler, type Response } from 'express';
import { errors } from 'jose';
import type { Directory } from '../directory/directory.ts';
import { verifyAccessToken } from '../directory/verify-access-token.ts';
import { jsonResponse } from '../simulation/http-response.ts';
import { type CallContext, serveCall } from '../simulation/serve-call.ts';
import { errorsAt, GraphError, unauthorized } from './graph-error.ts';
import {
  type ApplicationKey,
  addPassword,
  type GraphContext,
  getApplication,
  listApplications,
  removePassword,
} from './graph-operations.ts';

/** The audience of tokens for Graph, by its host: one of each national cloud. */
const audiences: Readonly<Record<string, string>> = {
  'microsoftgraph.chinacloudapi.cn': 'https://microsoftgraph.chinacloudapi.cn',
  'graph.microsoft.us': 'https://graph.microsoft.us',
};
const publicAudiences = ['https://graph.microsoft.com', '00000003-0000-0000-c000-000000000000'];

interface GraphRoutesContext {
  calls: Omit<CallContext, 'errors'>;
  directory: Directory;
}

type Perform = (context: GraphContext, key: ApplicationKey, request: Request) => object | undefined;

/** Routes of version 1.0. An application is named by its object ID, or by its client ID as in `applications(appId='…')`. */
export function graphRoutes(context: GraphRoutesContext): RequestHandler {
  const routes = express.Router();
  const on = (method: 'get' | 'post', path: string, operation: string, perform: Perform) =>
    routes[method](path, (request, response, next) => {
      const key = keyIn(request.params);
      return key ? serve(context, { operation, key, perform }, request, response) : next();
    });
  routes.use(express.json({ limit: '64kb' }));
  routes.get('/v1.0/applications', (request, response) =>
    serve(
      context,
      {
        operation: 'application.ListApplication',
        key: undefined,
        perform: (call) => listApplications(call, filterIn(request)),
      },
      request,
      response,
    ),
  );
  for (const path of ['/v1.0/applications/:objectId', '/v1.0/:entity']) {
    on('get', path, 'application.GetApplication', getApplication);
    on('post', `${path}/addPassword`, 'application.addPassword', (call, key, { body }) =>
      addPassword(call, key, body),
    );
    on('post', `${path}/removePassword`, 'application.removePassword', (call, key, { body }) =>
      removePassword(call, key, body),
    );
  }
  routes.use((request, response) => serve(context, unknownPath, request, response));
  return routes;
}

function keyIn({ objectId, entity }: Request['params']): ApplicationKey | undefined {
  if (objectId !== undefined) return { objectId: String(objectId) };
  const [, appId] = /^applications\(appId='([^']*)'\)$/i.exec(String(entity)) ?? [];
  return appId === undefined ? undefined : { appId };
}

function filterIn({ query }: Request): string | undefined {
  return query.$filter === undefined ? undefined : String(query.$filter);
}

const unknownPath = {
  operation: 'unknown',
  key: undefined,
  perform: (): undefined => {
    throw new GraphError(400, 'BadRequest', 'Resource not found for the segment.');
  },
};

interface Endpoint<Key> {
  operation: string;
  key: Key;
  perform: (context: GraphContext, key: Key, request: Request) => object | undefined;
}

function serve<Key extends ApplicationKey | undefined>(
  { calls, directory }: GraphRoutesContext,
  { operation, key, perform }: Endpoint<Key>,
  request: Request,
  response: Response,
): Promise<void> {
  const name = key && ('appId' in key ? key.appId : key.objectId).slice(0, 64);
  const sent = [...Object.keys(request.query), ...Object.keys((request.body ?? {}) as object)].slice(0, 32);
  const context = { ...calls, errors: errorsAt(calls.now) };
  return serveCall(context, { operation, name, sent }, response, async ({ listMs: staleMs }) => {
    const caller = await callerOf(request, directory, calls.now());
    const content = perform({ directory, staleMs, caller }, key, request);
    return content === undefined ? { status: 204, headers: {}, body: '' } : jsonResponse(200, content);
  });
}

/** Returns the object ID of the caller's service principal. Throws GraphError if the token is not valid. */
async function callerOf(request: Request, directory: Directory, nowMs: number): Promise<string> {
  const token = /^Bearer (.+)$/i.exec(request.header('authorization') ?? '')?.[1];
  if (token === undefined) throw unauthorized('Access token is empty.');
  const ofHost = audiences[(request.header('x-forwarded-host') ?? '').toLowerCase()];
  const audience = ofHost === undefined ? publicAudiences : [ofHost];
  try {
    return String((await verifyAccessToken(token, directory, { audience, nowMs })).oid);
  } catch (error) {
    if (error instanceof errors.JOSEError) throw unauthorized(reasonOf(error));
    throw error;
  }
}

function reasonOf(error: errors.JOSEError): string {
  if (error instanceof errors.JWTExpired) return 'Lifetime validation failed, the token is expired.';
  const claim = error instanceof errors.JWTClaimValidationFailed ? error.claim : undefined;
  if (claim === 'aud') return 'Access token validation failure. Invalid audience.';
  if (claim === 'iss' || claim === 'tid') return 'Access token validation failure. Invalid issuer.';
  return 'Signing key is invalid.';
}

import express, { type Request, type RequestHandler } from 'express';
import { parseAuthorization } from '../credentials/request-signature.ts';
import { regionNames } from '../store/regions.ts';
import type { CloudAContext, IncomingCall } from './incoming-call.ts';
import { serveSecretsManager } from './secrets-endpoint.ts';
import { serveSts } from './sts-endpoint.ts';

const MAX_BODY = '2mb';

/** Routes each request to the secrets manager or to the token service, which share the endpoint. */
export function cloudARoutes(context: CloudAContext): RequestHandler {
  const routes = express.Router();
  routes.use(express.raw({ type: () => true, limit: MAX_BODY }), async (request, response) => {
    const call = incomingCall(request);
    const { region = 'us-east-1' } = call.authorization ?? {};
    if (!regionNames.has(region)) return void response.socket?.resetAndDestroy(); // there is no such host
    await (isForSts(call) ? serveSts : serveSecretsManager)(context, call, response);
  });
  return routes;
}

function incomingCall(incoming: Request): IncomingCall {
  const headers = Object.fromEntries(
    Object.entries(incoming.headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(',') : (value ?? ''),
    ]),
  );
  const body = Buffer.isBuffer(incoming.body) ? incoming.body : Buffer.alloc(0);
  const request = { method: incoming.method, url: incoming.originalUrl, headers, body };
  return { request, authorization: parseAuthorization(headers.authorization) };
}

function isForSts({ request, authorization }: IncomingCall): boolean {
  const contentType = request.headers['content-type'] ?? '';
  return authorization?.service === 'sts' || contentType.startsWith('application/x-www-form-urlencoded');
}

import querystring from 'node:querystring';
import { type Conditions, meetsConditions, type RequestParameters } from '@secrets/access';
import { invalid, type Json, permissionDenied, repeatedName } from '@secrets/domain';
import type { GatewayRequest } from './gateway-request.ts';

/** The parts of a request that conditions apply to. */
interface ConditionedRequest {
  gatewayRequest: Pick<GatewayRequest, 'path' | 'operation' | 'forwardQuery'>;
  body: Buffer | undefined;
  /** For how long the response is to be wrapped, in seconds. */
  wrapSeconds?: number | undefined;
}

/**
 * Refuses a request that does not have the form that the policies require
 * (docs/conventions/access.md#restricted-parameters). The body is parsed only if they restrict parameters. What another
 * parser could understand in another way is refused, so that a service reads nothing that was not seen here.
 * @throws a problem: `permission denied`, or `invalid` if the body is not a JSON object, or contains a name twice
 */
export function requireConditions(conditions: Conditions | undefined, request: ConditionedRequest): void {
  if (conditions === undefined) return;
  const { gatewayRequest, body, wrapSeconds } = request;
  const parameters: RequestParameters = {
    path: gatewayRequest.path,
    body: conditions.parameters === undefined ? {} : bodyOf(body),
    query: queryOf(gatewayRequest.forwardQuery),
    isRead: gatewayRequest.operation === 'read',
  };
  if (!meetsConditions(conditions, { parameters, wrapSeconds })) throw permissionDenied();
}

function queryOf(query: string): RequestParameters['query'] {
  const parsed = querystring.parse(query.slice(1), '&', '=', { maxKeys: 0 });
  return Object.entries(parsed).flatMap(([name, values = []]) =>
    [values].flat().map((value): [string, string] => [name, value]),
  );
}

function bodyOf(body: Buffer | undefined): RequestParameters['body'] {
  if (body === undefined || body.length === 0) return {};
  const parsed = parsedBody(body);
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    throw invalid('the request body must be a JSON object');
  return parsed as RequestParameters['body'];
}

function parsedBody(body: Buffer): Json {
  const text = textOf(body);
  try {
    const parsed = JSON.parse(text) as Json;
    const repeated = repeatedName(text);
    if (repeated === undefined) return parsed;
    throw invalid(`${JSON.stringify(repeated)} occurs twice in one JSON object`);
  } catch (error) {
    throw error instanceof SyntaxError ? notJson() : error;
  }
}

function textOf(body: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body); // skips a byte order mark, as the services do
  } catch {
    throw notJson();
  }
}

const notJson = () => invalid('the body is not valid JSON');

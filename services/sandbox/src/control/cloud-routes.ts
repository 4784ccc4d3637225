import type { Request } from 'express';
import { z } from 'zod';
import { type ApplicationPassword, hintOf } from '../directory/application/application-passwords.ts';
import type { Directory } from '../directory/directory.ts';
import { TokenOptions } from '../directory/issue-token.ts';
import type { FederatedCredentials } from '../federation/federated-credential.ts';
import type { ResourceManager } from '../resource-manager/simulate-resource-manager.ts';
import { type HttpResponse, jsonResponse } from '../simulation/http-response.ts';
import type { Simulation } from '../simulation/simulation.ts';

/** Simulations that the stores and the login of machines share. */
export interface CloudSimulations {
  directory: Directory;
  federation: FederatedCredentials;
  resourceManager: ResourceManager;
  graph: Simulation;
}

/** Adds a route to the control API. */
export type AddRoute = (
  method: 'get' | 'post' | 'delete',
  path: string,
  handle: (request: Request) => HttpResponse | Promise<HttpResponse>,
) => void;

export const noContent: HttpResponse = { status: 204, headers: {}, body: '' };

/** The part of the control API for the directory, its federated credentials, and the resources. */
export function cloudRoutes(
  { directory, federation, resourceManager }: CloudSimulations,
  on: AddRoute,
): void {
  directoryRoutes(directory, on);
  on('get', '/federation', () => jsonResponse(200, { credentials: federation.list() }));
  on('post', '/federation', ({ body }) => jsonResponse(201, { id: federation.add(body) }));
  on('delete', '/federation/:id', ({ params }) =>
    removal(federation.remove(String(params.id)), 'federated credential'),
  );
  resourceRoutes(resourceManager, on);
}

const removal = (existed: boolean, what: string): HttpResponse =>
  existed ? noContent : jsonResponse(404, { errors: [`${what} not found`] });

function directoryRoutes(directory: Directory, on: AddRoute): void {
  on('post', '/directory/rotate', ({ body }) => rotateKeys(directory, body));
  on('post', '/directory/token', ({ body }) => issueToken(directory, body));
  on('get', '/directory/settings', () => jsonResponse(200, directory.settings));
  on('post', '/directory/settings', ({ body }) => jsonResponse(200, directory.configure(body)));
  on('get', '/directory/passwords', () =>
    jsonResponse(200, { passwords: directory.passwords.list().map(passwordContent) }),
  );
  on('post', '/directory/passwords', ({ body }) => addPassword(directory, body));
  on('delete', '/directory/passwords/:id', ({ params }) =>
    removal(directory.passwords.remove(String(params.id), directory.settings.removalDelayMs), 'password'),
  );
}

function resourceRoutes(resourceManager: ResourceManager, on: AddRoute): void {
  on('get', '/resources', () => jsonResponse(200, { resources: resourceManager.resources() }));
  on('post', '/resources', ({ body }) => jsonResponse(201, resourceManager.addResource(body)));
  on('delete', '/resources', ({ query }) =>
    removal(resourceManager.removeResource(String(query.id)), 'resource'),
  );
  on('get', '/role-assignments', () =>
    jsonResponse(200, { role_assignments: resourceManager.roleAssignments() }),
  );
  on('post', '/role-assignments', ({ body }) =>
    jsonResponse(201, { id: resourceManager.addRoleAssignment(body) }),
  );
  on('delete', '/role-assignments/:id', ({ params }) =>
    removal(resourceManager.removeRoleAssignment(String(params.id)), 'role assignment'),
  );
}

const RotationRequest = z.object({ keep_older: z.boolean().default(true) });

async function rotateKeys(directory: Directory, body: unknown): Promise<HttpResponse> {
  const { keep_older: keepOlder } = RotationRequest.parse(body ?? {});
  return jsonResponse(200, { kid: await directory.rotate({ keepOlder }) });
}

const TokenRequest = z.union([
  z.object({ identity: z.string() }).and(TokenOptions.omit({ oid: true })),
  TokenOptions,
]);

async function issueToken(directory: Directory, body: unknown): Promise<HttpResponse> {
  const request = TokenRequest.parse(body);
  const token =
    'identity' in request
      ? directory.issueTokenFor(request.identity, request)
      : directory.issueToken(request);
  return jsonResponse(200, { token: await token });
}

const dateTime = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text));
const PasswordRequest = z.object({
  displayName: z.string().max(256).optional(),
  startDateTime: dateTime.optional(),
  endDateTime: dateTime.optional(),
  secretText: z.string().min(1).max(256).optional(),
});

/** Adds a password that works at once. */
function addPassword({ passwords }: Directory, body: unknown): HttpResponse {
  const { displayName, startDateTime, endDateTime, secretText } = PasswordRequest.parse(body ?? {});
  const requested = { displayName, startMs: startDateTime, endMs: endDateTime, secretText };
  const password = passwords.add(requested, 0);
  return jsonResponse(201, { ...passwordContent(password), secretText: password.secretText });
}

function passwordContent(password: ApplicationPassword): object {
  const { keyId, displayName, startMs, endMs } = password;
  const [startDateTime, endDateTime] = [startMs, endMs].map((ms) => new Date(ms).toISOString());
  return { keyId, displayName, hint: hintOf(password), startDateTime, endDateTime };
}

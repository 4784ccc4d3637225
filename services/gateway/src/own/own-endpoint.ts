import { type Caller, requireCapability } from '@secrets/caller';
import { invalid } from '@secrets/domain';
import { envelope, methodNotTaken, parseInput } from '@secrets/http';
import type { AuditDevice } from '@secrets/telemetry';
import { z } from 'zod';
import type { AuditHash } from '../audit/audit-hash.ts';
import type { GatewayRequest } from '../request/gateway-request.ts';
import { type OwnDocuments, ownDocument } from './own-documents.ts';
import { auditHashPath, auditPath, keyStatusPath, rotatePath } from './own-paths.ts';
import type { SealRotations } from './seal-rotation.ts';

interface OwnRequest {
  gatewayRequest: GatewayRequest;
  caller: Caller;
  body: Buffer | undefined;
  /** Undefined if the response is not to be wrapped. */
  wrapSeconds: number | undefined;
}

/** Returns the body of the response to a permitted request; undefined if its path belongs to a service. */
export type OwnEndpoint = (request: OwnRequest) => Promise<unknown>;

export interface OwnEndpointOptions {
  documents: OwnDocuments;
  devices: readonly AuditDevice[];
  auditHash: AuditHash;
  sealKeys: SealRotations;
}

/** The paths that the gateway serves itself, except health, which is not audited. */
export const ownEndpoint =
  ({ documents, devices, auditHash, sealKeys }: OwnEndpointOptions): OwnEndpoint =>
  async (request) => {
    const { path, requestId } = request.gatewayRequest;
    const document = ownDocument(documents, request.gatewayRequest);
    if (document !== undefined) return document();
    if (!isOwnPath(path)) return undefined;
    if (request.wrapSeconds !== undefined) throw invalid('the response of this path cannot be wrapped');
    if (path === keyStatusPath) {
      requireMethod(request, 'get');
      return envelope(requestId, { data: await sealKeys.read(request.caller) });
    }
    if (path === rotatePath) return rotated(request, sealKeys);
    if (path === auditPath) {
      requireMethod(request, 'get');
      return withoutEnvelopeToo(requestId, presented(devices));
    }
    requireMethod(request, 'post');
    const name = path.slice(auditHashPath.length + 1);
    if (!devices.some((device) => device.name === name)) throw invalid(`there is no audit device ${name}`);
    return hashed(request, auditHash);
  };

const isOwnPath = (path: string): boolean =>
  [keyStatusPath, rotatePath, auditPath].includes(path) || path.startsWith(`${auditHashPath}/`);

async function rotated(request: OwnRequest, sealKeys: SealRotations) {
  requireMethod(request, 'post');
  requireCapability(request.caller, 'update');
  return envelope(request.gatewayRequest.requestId, { data: await sealKeys.begin(request.caller) });
}

const HashRequest = z.object({ input: z.string().min(1) });

/** The hash is the same for all devices; the name is part of the path because clients expect it. */
function hashed({ gatewayRequest, caller, body }: OwnRequest, auditHash: AuditHash) {
  requireCapability(caller, 'update');
  const { input } = parseInput(HashRequest, parsedJson(body)) as z.infer<typeof HashRequest>;
  return withoutEnvelopeToo(gatewayRequest.requestId, { hash: auditHash.of(input) });
}

/** Clients of these paths read the data at either place. */
const withoutEnvelopeToo = (requestId: string, data: object) => ({
  ...data,
  ...envelope(requestId, { data }),
});

const presented = (devices: readonly AuditDevice[]) =>
  Object.fromEntries(
    devices.map(({ name, type, path }) => [
      `${name}/`,
      {
        type,
        description: '',
        options: path === undefined ? {} : { file_path: path },
        local: false,
        path: `${name}/`,
      },
    ]),
  );

const operations = { get: 'read', post: 'create-or-update' } as const;

function requireMethod({ gatewayRequest }: OwnRequest, method: keyof typeof operations): void {
  if (gatewayRequest.operation !== operations[method]) throw methodNotTaken([method]);
}

function parsedJson(body: Buffer | undefined): unknown {
  try {
    return body === undefined ? undefined : JSON.parse(body.toString());
  } catch {
    throw invalid('the body is not valid JSON');
  }
}

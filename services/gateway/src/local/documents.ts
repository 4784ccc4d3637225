import { type Endpoint, endpoint } from '@secrets/http';
import { healthPath } from '../request/gateway-request.ts';
import type { Health } from './health.ts';
import { HealthQuery, statusOfHealth } from './health-status.ts';

/** The documents that the gateway serves without the envelope (docs/conventions/http.md#health-and-self-description). */
export interface Documents {
  health(): Promise<Health>;
  sealStatus(): Promise<object>;
  leader(): Promise<object>;
  init(): Promise<object>;
  description(): Promise<object>;
}

export const documentEndpoints = (documents: Documents): Endpoint[] => [
  health(documents, 'get', 'Read whether the installation is ready', 'lists what is unavailable'),
  health(documents, 'head', 'Read the same status without a body', 'something is unavailable'),
  document('/sys/seal-status', 'Read the state of the seal, which is always open', documents.sealStatus),
  document('/sys/leader', 'Read the state of the standbys, of which there are none', documents.leader),
  document('/sys/init', 'Read whether the installation is initialized', documents.init),
  document(
    '/sys/internal/specs/openapi',
    'Read this description',
    documents.description,
    'an OpenAPI 3.1 document',
  ),
];

const health = (documents: Documents, method: 'get' | 'head', summary: string, unavailable: string) =>
  endpoint({
    method,
    path: `/${healthPath}`,
    summary,
    access: { open: true },
    query: HealthQuery,
    responses: { 200: 'ready', 501: 'the tables do not exist', 503: unavailable },
    handle: async () => {
      const content = await documents.health();
      return { status: statusOfHealth(content, ''), document: { content } };
    },
  });

const document = (path: string, summary: string, read: () => Promise<object>, described = 'the state') =>
  endpoint({
    method: 'get',
    path,
    summary,
    access: { open: true },
    responses: { 200: described },
    handle: async () => ({ document: { content: await read() } }),
  });

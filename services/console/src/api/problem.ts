/** A capability that the token's policies must grant for a request (docs/api.md#capabilities). */
export type Capability = 'create' | 'read' | 'update' | 'patch' | 'delete' | 'list' | 'sudo';

const capabilityOf: Readonly<Record<string, Capability>> = {
  GET: 'read',
  POST: 'update',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

/** A request that the service refused. Its message is that of the response. */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem';
  /** The sentences of the response; empty for an object that does not exist, and for an empty list. */
  readonly sentences: readonly string[];
  readonly status: number;
  readonly capability: Capability;
  /** Below `/v1/`, decoded. */
  readonly path: string;
  /** How long to wait before the next attempt, if the service said so. */
  readonly retryAfterSeconds: number | undefined;
  /** The body of the response, such as the metadata of a deleted version. */
  readonly body: unknown;

  constructor(request: Request, response: Response, body: unknown) {
    const sentences = sentencesOf(body);
    super(sentences.join('; ') || (response.status === 404 ? 'not found' : `status ${response.status}`));
    const url = new URL(request.url);
    const isList = request.method === 'GET' && url.searchParams.get('list') === 'true';
    this.sentences = sentences;
    this.status = response.status;
    this.capability = isList ? 'list' : (capabilityOf[request.method] ?? 'read');
    this.path = decodeURIComponent(url.pathname.replace(/^\/v1\//, ''));
    this.retryAfterSeconds = secondsOf(response.headers.get('retry-after'));
    this.body = body;
  }
}

/** Something that the console itself refuses. Its message is a sentence for the user. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
}

/** A missing object, or an empty list. An unknown path or mount has a sentence, and is not one of them. */
export const isAbsent = (error: unknown): boolean =>
  error instanceof ApiProblem && error.status === 404 && error.sentences.length === 0;

function sentencesOf(body: unknown): string[] {
  const errors = typeof body === 'object' && body !== null && 'errors' in body ? body.errors : [];
  return Array.isArray(errors) ? errors.filter((error) => typeof error === 'string') : [];
}

function secondsOf(header: string | null): number | undefined {
  const seconds = Number(header);
  return header === null || Number.isNaN(seconds) ? undefined : seconds;
}

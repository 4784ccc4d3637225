import {
  bearerTokenAuthenticationPolicy,
  createHttpHeaders,
  createPipelineFromOptions,
  createPipelineRequest,
  type HttpClient,
  type Pipeline,
  type PipelineResponse,
  RestError,
} from '@azure/core-rest-pipeline';
import type { TokenCredential } from '@azure/identity';
import { Problem } from '@secrets/domain';
import { type Sealed, seal } from '@secrets/seal';
import { z } from 'zod';
import { retryAfterMs } from '../../../verification/http/retry-after.ts';
import { unavailable } from '../credentials/token-problem.ts';

const Listed = z.object({
  keyId: z.string(),
  displayName: z.string().nullish(),
  hint: z.string().nullish(),
});
/** A password of an application, without its text. */
export type ListedPassword = z.infer<typeof Listed>;

const Application = z.object({ passwordCredentials: z.array(Listed) });
const Added = z.object({
  keyId: z.string().min(1),
  secretText: z.string().min(1),
  endDateTime: z.string().min(1),
});

export interface AddedPassword {
  keyId: string;
  secret: Sealed<string>;
  expiresAt: Date;
}

export interface ApplicationPasswordsOptions {
  credential: TokenCredential;
  /** Base URL of Graph, which is also the audience of the tokens. */
  endpoint: string;
  httpClient: HttpClient;
  clientId: string;
}

/**
 * The passwords of an application in Graph (https://learn.microsoft.com/graph/api/resources/passwordcredential).
 * Methods throw `Problem`.
 */
export class ApplicationPasswords {
  readonly #options: ApplicationPasswordsOptions;
  readonly #pipeline: Pipeline;

  constructor(options: ApplicationPasswordsOptions) {
    this.#options = options;
    const { credential, endpoint } = options;
    this.#pipeline = createPipelineFromOptions({
      retryOptions: { maxRetries: 0 }, // the HTTP client repeats requests
      redirectOptions: { maxRetries: 0 },
    });
    this.#pipeline.addPolicy(bearerTokenAuthenticationPolicy({ credential, scopes: `${endpoint}/.default` }));
  }

  /** May be some seconds or minutes old. */
  async list(): Promise<ListedPassword[]> {
    const response = await this.#send('GET', '?$select=id,appId,passwordCredentials');
    return parsed(Application, response).passwordCredentials;
  }

  /** Adds a password, which works after a while. If it fails, the password may exist. */
  async add(displayName: string, expiresAt: Date): Promise<AddedPassword> {
    const passwordCredential = { displayName, endDateTime: expiresAt.toISOString() };
    const added = parsed(Added, await this.#send('POST', '/addPassword', { passwordCredential }));
    const { keyId, secretText, endDateTime } = added;
    return { keyId, secret: seal(secretText), expiresAt: new Date(endDateTime) };
  }

  /** Removes a password. Succeeds if it does not exist. */
  async remove(keyId: string): Promise<void> {
    try {
      await this.#send('POST', '/removePassword', { keyId });
    } catch (error) {
      if (!(error instanceof UnknownKey)) throw error;
      if ((await this.list()).some((listed) => listed.keyId === keyId)) throw unexpected(400);
    }
  }

  async #send(method: 'GET' | 'POST', path: string, body?: object): Promise<PipelineResponse> {
    const { endpoint, clientId, httpClient } = this.#options;
    const request = createPipelineRequest({
      method,
      url: `${endpoint}/v1.0/applications(appId='${quoted(clientId)}')${path}`,
      headers: createHttpHeaders({ accept: 'application/json', 'content-type': 'application/json' }),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const response = await this.#pipeline.sendRequest(httpClient, request).catch((cause: unknown) => {
      if (!(cause instanceof RestError)) throw cause;
      throw new Problem('unavailable', 'Graph does not respond', { cause, retryAfterSeconds: 2 });
    });
    requireSuccess(response, path);
    return response;
  }
}

/** A text within quotes, in which a quote is written twice (OData 4.01, section 5.1.1.6.1). */
const quoted = (text: string): string => encodeURIComponent(text.replaceAll("'", "''"));

/** Graph says that there is no such key. */
class UnknownKey extends Error {}

function requireSuccess(response: PipelineResponse, path: string): void {
  const { status } = response;
  if (status >= 200 && status < 300) return;
  if (status === 400 && path === '/removePassword') throw new UnknownKey();
  if (status === 429 || status === 408 || status >= 500)
    throw unavailable(`Graph returned status ${status}`, retryAfterMs(response, Date.now()) ?? 2_000);
  if (status === 401)
    throw refused('Graph does not accept the access token: check tenant_id and environment');
  if (status === 403)
    throw refused(
      'the application may not change its own passwords: it needs the application permission Application.ReadWrite.All',
    );
  if (status === 404) throw refused('Graph does not know the application of the configured client_id');
  throw unexpected(status);
}

const refused = (sentence: string): Problem => new Problem('bad_gateway', sentence);
const unexpected = (status: number): Problem => refused(`Graph returned status ${status}`);

function parsed<Schema extends z.ZodType>(schema: Schema, { bodyAsText }: PipelineResponse): z.infer<Schema> {
  try {
    return schema.parse(JSON.parse(bodyAsText ?? ''));
  } catch {
    throw refused('Graph returned a response that is not usable'); // without the cause: it may contain the password
  }
}

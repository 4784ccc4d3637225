import type { HttpClient, PipelineRequest, PipelineResponse } from '@azure/core-rest-pipeline';
import {
  type AccessToken,
  ClientAssertionCredential,
  ClientSecretCredential,
  type GetTokenOptions,
  type TokenCredential,
} from '@azure/identity';
import type { CloudBSettings } from '@secrets/destinations';
import { Fault, parsedJson } from '@secrets/domain';
import {
  type DriverContext,
  malformedResponse,
  networkFault,
  refusedFault,
  retryAfterSeconds,
} from '@secrets/sync-worker';
import { z } from 'zod';
import { clouds } from './clouds.ts';
import { refusals } from './refusals.ts';
import { isUnavailable, noRetries, tokenRequest as operation, workerIdentity } from './worker-identity.ts';

/** With what a destination authenticates, if not with the identity of the worker. */
export interface OwnIdentity extends Pick<DriverContext, 'identityToken'> {
  clientSecret: string | undefined;
}

/**
 * Returns what requests the tokens of a destination: its identity token, its client secret or, if it has neither, the
 * identity of the worker, which with `client_id` is a certain one of its managed identities. Failures are `Fault`s. The
 * worker's own identity has endpoints of its own, such as the instance metadata, and does not use the HTTP client, but
 * the SDK's own one.
 */
export function credentialFor(
  settings: CloudBSettings,
  { clientSecret, identityToken }: OwnIdentity,
  httpClient: HttpClient,
): TokenCredential {
  const { tenant_id, client_id, cloud, identity_token_audience: audience } = settings;
  if (!clientSecret && audience === '') return withFaults(workerIdentity(settings), () => undefined);
  const faults = new LastFault();
  // https://learn.microsoft.com/entra/workload-id/workload-identity-federation
  const assertion = new SharedAssertion(() =>
    faults.of(() => identityToken({ audience, ttlSeconds: settings.identity_token_ttl })),
  );
  const options = {
    ...noRetries,
    authorityHost: clouds[cloud].authority,
    disableInstanceDiscovery: true, // the cloud's authority is known
    httpClient: {
      sendRequest: (request: PipelineRequest) => {
        assertion.clear();
        return faults.of(() => send(httpClient, request));
      },
    },
  };
  const credential =
    audience === ''
      ? new ClientSecretCredential(tenant_id, client_id, clientSecret ?? '', options)
      : new ClientAssertionCredential(tenant_id, client_id, () => assertion.get(), options);
  return withFaults(credential, () => faults.last);
}

/** Remembers the fault of the newest step of a request for a token. */
class LastFault {
  last: Fault | undefined;

  async of<Result>(step: () => Promise<Result>): Promise<Result> {
    this.last = undefined;
    try {
      return await step();
    } catch (error) {
      this.last = faultOf(error);
      throw this.last;
    }
  }
}

/** One identity token per request: the SDK asks for it twice before it sends one. */
class SharedAssertion {
  readonly #create: () => Promise<string>;
  #token: Promise<string> | undefined;

  constructor(create: () => Promise<string>) {
    this.#create = create;
  }

  get(): Promise<string> {
    this.#token ??= this.#create().catch((error: unknown) => {
      this.clear();
      throw error;
    });
    return this.#token;
  }

  clear(): void {
    this.#token = undefined;
  }
}

async function send(httpClient: HttpClient, request: PipelineRequest): Promise<PipelineResponse> {
  const response = await httpClient.sendRequest(request);
  const fault = faultOfToken(response);
  if (fault !== undefined) throw fault;
  return response;
}

/**
 * Requests one token at a time, which all calls share, and reports failures as faults: the SDK wraps the errors of its
 * HTTP client and keeps only their text. The signal of a single call is not used, and the tenant in the vault's
 * challenge neither: tokens are only ever requested from the tenant that the destination names.
 */
function withFaults(credential: TokenCredential, lastFault: () => Fault | undefined): TokenCredential {
  const pending = new Map<string, Promise<AccessToken | null>>();
  const request = async (scopes: string | string[], options: GetTokenOptions) => {
    try {
      return await credential.getToken(scopes, options);
    } catch (error) {
      throw lastFault() ?? faultOf(error);
    }
  };
  return {
    getToken(scopes, { claims, enableCae }: GetTokenOptions = {}) {
      const options = { ...(claims === undefined ? {} : { claims }), ...(enableCae ? { enableCae } : {}) };
      const key = JSON.stringify([scopes, options]);
      const shared = pending.get(key) ?? request(scopes, options).finally(() => pending.delete(key));
      pending.set(key, shared);
      return shared;
    },
  };
}

const ErrorBody = z.object({ error_codes: z.array(z.int()).min(1) });

/**
 * Returns the fault of a response to a request for a token. A refusal is always a fault of the destination's
 * credentials, whatever its code.
 */
function faultOfToken({ status, headers, bodyAsText }: PipelineResponse): Fault | undefined {
  if (status >= 200 && status < 300 && parsedJson(bodyAsText) !== undefined) return undefined;
  if (status < 400) return malformedResponse(operation, status);
  const [number] = ErrorBody.safeParse(parsedJson(bodyAsText)).data?.error_codes ?? [];
  const isRefused = status < 500 && status !== 429;
  const response = {
    status,
    code: number === undefined ? undefined : `AADSTS${number}`,
    text: isRefused ? 'AADSTS' : '',
    retryAfterSeconds: retryAfterSeconds(headers.get('retry-after')),
  };
  return refusedFault(operation, response, refusals);
}

function faultOf(error: unknown): Fault {
  if (error instanceof Fault) return error;
  const fault = networkFault(operation, error as Error);
  if (fault) return fault;
  if (isUnavailable(error))
    return new Fault(
      'unauthenticated',
      `${operation}: neither the destination nor the worker's environment has credentials`,
    );
  if (/^Auth/.test((error as Error).name))
    return new Fault('unauthenticated', `${operation}: the credentials were not accepted`);
  throw error;
}

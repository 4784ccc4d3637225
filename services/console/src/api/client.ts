import createClient, { type Client } from 'openapi-fetch';
import type { paths } from './generated/schema.ts';
import { ApiProblem, isAbsent } from './problem.ts';

/** The API, typed from its own description. A call rejects with an `ApiProblem` if the service refuses it. */
export type Api = Client<paths>;

/** Who asks, and in which namespace; '' is the root namespace. */
export interface Credentials {
  token: string;
  namespace: string;
}

/** Returns a client that sends these credentials; without a token, only logins succeed. */
export function createApi({ token, namespace }: Partial<Credentials>): Api {
  const api = createClient<paths>({
    baseUrl: window.location.origin,
    headers: {
      ...(token && { 'X-Service-Token': token }),
      ...(namespace && { 'X-Service-Namespace': namespace }),
    },
    credentials: 'omit',
    cache: 'no-store',
  });
  api.use({
    onResponse: async ({ request, response }) => {
      if (!response.ok) throw new ApiProblem(request, response, await response.json().catch(() => undefined));
    },
  });
  return api;
}

/** Returns `data` of a response's envelope. */
export function dataOf<Data>(answer: { data?: { data?: Data } | undefined }): NonNullable<Data> {
  const data = answer.data?.data;
  if (data === undefined || data === null) throw new Error('the response has no data');
  return data;
}

/** Resolves with undefined if the object does not exist, or the list is empty. */
export async function ifPresent<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  assertionHeader,
  type Caller,
  callerTokenHeader,
  type InternalKeys,
  parseInternalKeys,
  signAssertion,
} from '@secrets/caller';
import { parseExactly } from '@secrets/domain';

/** Random internal keys for a test. */
export const testKeys = (): InternalKeys => parseInternalKeys(randomBytes(32).toString('base64'), 'test');

/** A caller in the root namespace to whom everything is granted; `over` replaces single fields. */
export const testCaller = (over: Partial<Caller> = {}): Caller => ({
  requestId: randomUUID(),
  accessor: 'accessor-of-test',
  tokenType: 'service',
  displayName: 'test',
  entityId: null,
  policies: ['root'],
  identityPolicies: [],
  tokenExpiresAt: null,
  namespace: { id: 'root', path: '' },
  tokenNamespace: { id: 'root', path: '' },
  grants: ['create', 'read', 'update', 'patch', 'delete', 'list', 'sudo'],
  remoteAddress: '127.0.0.1',
  ...over,
});

export interface TestResponse {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads any field of the response
  body: any;
  headers: Headers;
}

/** A service's app on a free port, called as the gateway calls it. */
export interface TestService {
  url: string;
  /** @param sent the token that the gateway passes on, for the paths that receive it */
  call(
    method: string,
    path: string,
    body?: unknown,
    caller?: Caller,
    from?: string,
    sent?: string,
  ): Promise<TestResponse>;
  stop(): Promise<void>;
}

/** Serves an app on 127.0.0.1 for a test. The `path` of `call` is relative to `/v1`; LIST is sent as `GET …?list=true`. */
export async function serveForTest(
  app: RequestListener,
  service: string,
  keys: InternalKeys,
): Promise<TestService> {
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    call: async (method, path, body, caller = testCaller(), from = 'gateway', sent?) => {
      const verb = method === 'LIST' ? 'GET' : method;
      const target = new URL(`${url}/v1${path}`);
      if (method === 'LIST') target.searchParams.set('list', 'true');
      const content = body === undefined ? {} : { body: JSON.stringify(body) };
      const line = { method: verb, path: target.pathname, query: target.search };
      const assertion = signAssertion(keys, { from, to: service, ...line, ...content }, caller);
      const headers = {
        [assertionHeader]: assertion,
        'content-type': 'application/json',
        ...(sent === undefined ? {} : { [callerTokenHeader]: sent }),
      };
      const response = await fetch(target, { method: verb, headers, ...content });
      const text = await response.text();
      return {
        status: response.status,
        body: text === '' ? undefined : parseExactly(text),
        headers: response.headers,
      };
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

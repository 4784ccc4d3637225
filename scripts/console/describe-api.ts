import type { Endpoint } from '../../libs/http/src/endpoint/endpoint.ts';
import { openApi } from '../../libs/http/src/endpoint/open-api/open-api.ts';
import { apiDescription } from '../../services/gateway/src/local/describe-api.ts';
import { localEndpoints } from '../../services/gateway/src/local/local-endpoints.ts';
import { createAuthMethods } from '../../services/login/src/auth-methods/registry.ts';
import { allEndpoints as loginEndpoints } from '../../services/login/src/routes/all.ts';
import { allEndpoints as secretsEndpoints } from '../../services/secrets/src/routes/all.ts';
import { allEndpoints as syncEndpoints } from '../../services/sync-control/src/routes/all.ts';

/** Stands in for the dependencies of the handlers. The endpoints are only described; no handler is called. */
const unused: unknown = new Proxy(() => undefined, { get: () => unused, apply: () => unused });

const upstreams = {
  login: (): Endpoint[] => {
    const methods = createAuthMethods(unused as never, unused as never);
    return loginEndpoints({ ...(unused as object), methods } as never, unused as never);
  },
  secrets: () => secretsEndpoints(unused as never, unused as never),
  'sync-control': () => syncEndpoints(unused as never, unused as never, {}),
};

const gateway = () => localEndpoints(unused as never);

/** Returns the document that the gateway serves at `sys/internal/specs/openapi`, without starting anything. */
export function describeApi(): Promise<object> {
  const described = Object.entries(upstreams).map(([name, endpoints]) => ({
    name,
    fetchOwn: async () => openApi(name, endpoints()),
  }));
  return apiDescription(described as never, gateway)();
}

/** Returns the endpoints of everything that has public paths. None can be called. */
export const declaredEndpoints = () => ({
  gateway: gateway(),
  login: upstreams.login(),
  secrets: upstreams.secrets(),
  'sync-control': upstreams['sync-control'](),
});

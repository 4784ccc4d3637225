import { openApi } from '../../libs/http/src/endpoint/open-api.ts';
import { apiDescription } from '../../services/gateway/src/own/describe-api.ts';
import { createAuthMethods } from '../../services/login/src/auth-methods/registry.ts';
import { allEndpoints as loginEndpoints } from '../../services/login/src/routes/all.ts';
import { allEndpoints as secretsEndpoints } from '../../services/secrets/src/routes/all.ts';
import { allEndpoints as syncEndpoints } from '../../services/sync-control/src/routes/all.ts';

/** What handlers would use. The endpoints are described, and none is called. */
const unused: unknown = new Proxy(() => undefined, { get: () => unused, apply: () => unused });

const services = {
  login: () => {
    const methods = createAuthMethods(unused as never, unused as never);
    return loginEndpoints({ ...(unused as object), methods } as never);
  },
  secrets: () => secretsEndpoints(unused as never),
  'sync-control': () => syncEndpoints(unused as never),
};

/** Returns the document that the gateway serves at `sys/internal/specs/openapi`, without starting anything. */
export function describeApi(): Promise<object> {
  const upstreams = Object.entries(services).map(([name, endpoints]) => ({
    name,
    fetchOwn: async () => openApi(name, endpoints()),
  }));
  return apiDescription(upstreams as never)();
}

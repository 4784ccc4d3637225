import { afterAll, beforeAll } from '@jest/globals';
import { errorCode } from '../../../libs/domain/src/index.ts';
import { type Api, client } from '../../harness/http.ts';
import type { ServiceProcess } from '../../harness/service-process.ts';
import type { Suite } from '../describe-distributed.ts';

const probeMs = 250;

/**
 * A client that sends its requests like a load balancer: in turn to each gateway that is ready, and again only if a
 * connection is refused.
 */
interface BalancedClient {
  api: Api;
  stop(): void;
}

/** One for both gateways of a suite, while its tests run. */
export function useBalancedClient(suite: Suite): { readonly api: Api } {
  let balanced: BalancedClient;
  beforeAll(() => {
    const { processes, rootToken } = suite.system;
    balanced = balancedClient([processes.gateway, processes['gateway-2']!], rootToken);
  });
  afterAll(() => balanced?.stop());
  return {
    get api() {
      return balanced.api;
    },
  };
}

function balancedClient(gateways: readonly ServiceProcess[], token: string): BalancedClient {
  const targets = gateways.map(({ url, readyUrl }) => ({
    send: client(url, token),
    readyUrl,
    isReady: true,
  }));
  const probe = () =>
    targets.forEach(async (target) => {
      const answer = await fetch(target.readyUrl).catch(() => undefined);
      target.isReady = answer?.ok === true;
    });
  const probing = setInterval(probe, probeMs);
  let next = 0;
  const api: Api = async (method, path, body) => {
    const ready = targets.filter(({ isReady }) => isReady);
    const usable = ready.length > 0 ? ready : targets;
    const first = next++;
    for (let tried = 0; ; tried += 1) {
      const { send } = usable[(first + tried) % usable.length]!;
      try {
        return await send(method, path, body);
      } catch (error) {
        if (errorCode(error) !== 'ECONNREFUSED' || tried + 1 >= usable.length) throw error;
      }
    }
  };
  return { api, stop: () => clearInterval(probing) };
}

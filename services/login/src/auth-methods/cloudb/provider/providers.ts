import { Problem } from '@secrets/domain';
import pTimeout from 'p-timeout';
import type { ConfigSettings } from '../config/config-settings.ts';
import { isIdentity, parseResourceId } from '../resource-names/resource-id.ts';
import { folded } from '../resource-names/same-name.ts';
import type { MountClient } from './mount-client.ts';
import type { MountClients, MountIdentity } from './mount-clients.ts';
import type { AssignedIdentity, Provider, Providers, ResourceName } from './provider.ts';

/** For all look-ups of a login, with access tokens and retries. The gateway waits 30 s for a response. */
const loginBudgetMs = 20_000;

/**
 * The provider's API for each mount. What `of` is given is a configuration that was read at some epoch: as long as a
 * login has the same object, the client is the same; with another one, what is stored is read again, so that every
 * replica notices a change. Look-ups of what `of` returns end within 20 s after that call: it is for one login.
 */
export function createProviders(clients: MountClients): Providers {
  let byConfig = new WeakMap<ConfigSettings, Promise<MountClient>>();
  const clientOf = (mount: MountIdentity, config: ConfigSettings): Promise<MountClient> => {
    const known = byConfig.get(config);
    if (known !== undefined) return known;
    const read = clients.current(mount);
    byConfig.set(config, read);
    read.catch(() => byConfig.delete(config));
    return read;
  };
  return {
    of: ({ config, ...mount }) => providerOf(() => clientOf(mount, config)),
    forget: (mountId) => {
      clients.forget(mountId);
      byConfig = new WeakMap();
    },
  };
}

function providerOf(client: () => Promise<MountClient>): Provider {
  const deadline = performance.now() + loginBudgetMs;
  const cached = <Value extends object>(
    key: readonly string[],
    read: (client: MountClient) => Promise<Value | undefined>,
  ): Promise<Value | undefined> =>
    until(deadline, async () => {
      const current = await client();
      return current.answers.get(folded(JSON.stringify(key)), () => read(current));
    });
  return {
    findMachine: (name) => cached(['machine', ...keyOf(name)], ({ resources }) => resources.machine(name)),
    findScaleSet: (name) => cached(['set', ...keyOf(name)], ({ resources }) => resources.scaleSet(name)),
    findResource: (id) => cached(['resource', id], ({ resources }) => resources.resource(id)),
    findIdentity: async (id): Promise<AssignedIdentity | undefined> => {
      const name = identityName(id);
      if (name === undefined) return undefined;
      return cached(['identity', ...keyOf(name)], ({ resources }) => resources.identity(name));
    },
  };
}

const keyOf = ({ subscriptionId, resourceGroup, name }: ResourceName) => [
  subscriptionId,
  resourceGroup,
  name,
];

function identityName(id: string): ResourceName | undefined {
  const parts = parseResourceId(id);
  if (parts === undefined || !isIdentity(parts)) return undefined;
  const { subscriptionId, resourceGroup, names } = parts;
  return { subscriptionId, resourceGroup, name: names[0]! };
}

const until = <Value>(deadline: number, work: () => Promise<Value>): Promise<Value> =>
  pTimeout(work(), {
    milliseconds: Math.max(1, deadline - performance.now()),
    message: new Problem('unavailable', "the provider's API does not respond in time", {
      retryAfterSeconds: 5,
    }),
  });

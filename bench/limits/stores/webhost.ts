import { credential, type StoreAddress, type StoreClient } from './store-client.ts';

/** A put is one call. The provider has no client for servers: the calls are made with `fetch`, as the worker does. */
export function webhostClient(address: StoreAddress): StoreClient {
  const projectId = credential(address, 'projectId');
  const ids = new Map<string, string>();
  const call = async (method: string, path: string, content: object): Promise<unknown> => {
    const response = await fetch(`${address.endpoint}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${credential(address, 'accessToken')}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify(content),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response.json();
  };
  return {
    create: async (key, value) => {
      const variable = { key, value, type: 'encrypted', target: ['preview', 'production'] };
      const { created } = (await call('POST', `/v10/projects/${projectId}/env`, variable)) as {
        created: { id: string };
      };
      ids.set(key, created.id);
    },
    put: async (key, value) => {
      await call('PATCH', `/v9/projects/${projectId}/env/${ids.get(key)}`, { value });
    },
  };
}

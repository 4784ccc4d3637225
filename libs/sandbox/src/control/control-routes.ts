import express, { type Request, type Response } from 'express';
import { z } from 'zod';
import type { Directory } from '../directory/directory.ts';
import { TokenOrder } from '../directory/issue-token.ts';
import { FaultSpec } from '../faults/fault-spec.ts';
import { type Answer, plainJson } from '../simulation/http-response.ts';
import { send } from '../simulation/serve-call.ts';
import type { SimulatedStore, Simulation } from '../simulation/simulation.ts';

const Query = z.object({
  store: z.string().optional(),
  limit: z.coerce.number().int().positive().max(100_000).default(10_000),
});
const Rotation = z.object({ keep_older: z.boolean().default(true) });
const OrderedToken = z.union([
  z.object({ identity: z.string() }).and(TokenOrder.omit({ oid: true })),
  TokenOrder,
]);

/** What can be ordered from the sandbox and asked of it over HTTP, under `/_sandbox`. */
export function controlRoutes(stores: readonly SimulatedStore[], directory: Directory): express.Router {
  const simulations: readonly Simulation[] = [...stores, directory];
  const routes = express.Router();
  routes.use('/_sandbox', express.json({ limit: '256kb' }));
  const on = (
    method: 'get' | 'post' | 'delete',
    path: string,
    act: (request: Request) => Answer | Promise<Answer>,
  ) =>
    routes[method](`/_sandbox${path}`, async (request: Request, response: Response) =>
      send(response, await act(request)),
    );

  on('get', '/about', () => plainJson(200, about(stores, directory)));
  on('get', '/stores', ({ query }) => plainJson(200, contents(stores, Query.parse(query))));
  on('get', '/calls', ({ query }) => plainJson(200, calls(simulations, Query.parse(query))));
  on('get', '/faults', () => plainJson(200, { faults: simulations.flatMap(faultsOf) }));
  on('post', '/faults', ({ body }) => orderFault(simulations, body));
  on('delete', '/faults', ({ query }) => {
    for (const simulation of chosen(simulations, Query.parse(query))) simulation.faults.clear();
    return nothing;
  });
  on('delete', '/faults/:id', (request) => removeFault(simulations, request));
  on('post', '/reset', ({ query }) => {
    for (const simulation of chosen(simulations, Query.parse(query))) simulation.reset();
    return nothing;
  });
  on('post', '/directory/rotate', async ({ body }) =>
    plainJson(200, { kid: await directory.rotate({ keepOlder: Rotation.parse(body ?? {}).keep_older }) }),
  );
  on('post', '/directory/token', async ({ body }) =>
    plainJson(200, { token: await issued(directory, body) }),
  );
  return routes;
}

const nothing: Answer = { status: 204, headers: {}, body: '' };

function about(stores: readonly SimulatedStore[], directory: Directory): object {
  const described = stores.map(({ name, path, credentials }) => [name, { path, credentials }]);
  const { tenantId, path, identities } = directory;
  return { stores: Object.fromEntries(described), directory: { path, tenant_id: tenantId, identities } };
}

function contents(stores: readonly SimulatedStore[], query: z.output<typeof Query>): object {
  const shown = chosen(stores, query).map((store) => {
    const secrets = store.secrets().sort((one, other) => other.updated_at.localeCompare(one.updated_at));
    return [store.name, { total: secrets.length, secrets: secrets.slice(0, query.limit) }];
  });
  return { stores: Object.fromEntries(shown) };
}

function calls(simulations: readonly Simulation[], query: z.output<typeof Query>): object {
  const all = chosen(simulations, query).flatMap((simulation) => simulation.calls());
  return { calls: all.sort((one, other) => one.at.localeCompare(other.at)).slice(-query.limit) };
}

function chosen<Kind extends Simulation>(
  simulations: readonly Kind[],
  { store }: { store?: string | undefined },
): Kind[] {
  return simulations.filter(({ name }) => store === undefined || name === store);
}

function faultsOf({ name, faults }: Simulation): object[] {
  return faults.list().map((fault) => ({ store: name, ...fault, id: `${name}:${fault.id}` }));
}

function orderFault(simulations: readonly Simulation[], body: unknown): Answer {
  const { store } = z.object({ store: z.string() }).parse(body);
  const simulation = simulations.find(({ name }) => name === store);
  if (!simulation)
    return plainJson(400, { errors: [`no store ${store}; there are ${namesOf(simulations)}`] });
  return plainJson(201, { id: `${store}:${simulation.faults.add(FaultSpec.parse(body))}` });
}

function removeFault(simulations: readonly Simulation[], request: Request): Answer {
  const [store, id = ''] = String(request.params.id).split(':');
  const isGone = simulations.some(({ name, faults }) => name === store && faults.remove(id));
  return isGone ? nothing : plainJson(404, { errors: ['no such fault'] });
}

function issued(directory: Directory, body: unknown): Promise<string> {
  const order = OrderedToken.parse(body);
  return 'identity' in order ? directory.issueTokenFor(order.identity, order) : directory.issueToken(order);
}

function namesOf(simulations: readonly Simulation[]): string {
  return simulations.map(({ name }) => name).join(', ');
}

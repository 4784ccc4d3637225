import express, { type Request, type Response } from 'express';
import { z } from 'zod';
import { patternOf } from '../faults/fault-injector.ts';
import { FaultSpec } from '../faults/fault-spec.ts';
import { type HttpResponse, jsonResponse, sendResponse } from '../simulation/http-response.ts';
import type { Simulation } from '../simulation/simulation.ts';
import type { SimulatedStore } from '../stores/simulated-store.ts';
import { type AddRoute, type CloudSimulations, cloudRoutes, noContent } from './cloud-routes.ts';

const Query = z.object({
  store: z.string().optional(),
  /** A pattern for names, where `*` matches any text. */
  name: z.string().max(512).optional(),
  limit: z.coerce.number().int().positive().max(100_000).default(10_000),
});

const hand = { store: z.string(), name: z.string().min(1).max(512), region: z.string().max(512).optional() };
const HandChanges = z.discriminatedUnion('action', [
  z.object({ ...hand, action: z.literal('delete') }),
  z.object({ ...hand, action: z.enum(['edit', 'recreate']), value: z.string().max(65_536) }),
]);

/** The control API under `/_sandbox`; `docs/sandbox.md` describes it. */
export function controlRoutes(stores: readonly SimulatedStore[], cloud: CloudSimulations): express.Router {
  const { directory, resourceManager, graph } = cloud;
  const simulations: readonly Simulation[] = [...stores, directory, resourceManager, graph];
  const routes = express.Router();
  routes.use('/_sandbox', express.json({ limit: '256kb' }));
  const on: AddRoute = (method, path, handle) =>
    routes[method](`/_sandbox${path}`, async (request: Request, response: Response) =>
      sendResponse(response, await handle(request)),
    );

  on('get', '/about', () => jsonResponse(200, about(stores, cloud)));
  on('get', '/stores', ({ query }) => jsonResponse(200, contents(stores, Query.parse(query))));
  on('post', '/secrets', ({ body }) => changeByHand(stores, body));
  on('get', '/calls', ({ query }) => jsonResponse(200, calls(simulations, Query.parse(query))));
  on('get', '/faults', () => jsonResponse(200, { faults: simulations.flatMap(faultsOf) }));
  on('post', '/faults', ({ body }) => addFault(simulations, body));
  on('delete', '/faults', ({ query }) => clearFaults(simulations, Query.parse(query)));
  on('delete', '/faults/:id', (request) => removeFault(simulations, request));
  on('post', '/reset', ({ query }) => reset(simulations, Query.parse(query)));
  cloudRoutes(cloud, on);
  return routes;
}

function about(stores: readonly SimulatedStore[], cloud: CloudSimulations): object {
  const described = stores.map((store) => {
    const credentials = { ...store.credentials, ...store.generatedCredentials?.() };
    return [store.name, { path: store.path, credentials }];
  });
  return { stores: Object.fromEntries(described), ...aboutCloud(cloud) };
}

function aboutCloud({ directory, resourceManager, graph }: CloudSimulations): object {
  const { tenantId, path, identities, application } = directory;
  const { clientId, objectId, oid } = application;
  const { subscriptionId, resourceGroup } = resourceManager.defaultGroup;
  return {
    directory: {
      path,
      tenant_id: tenantId,
      identities,
      application: { client_id: clientId, object_id: objectId, principal_id: oid },
    },
    resource_manager: {
      path: resourceManager.path,
      subscription_id: subscriptionId,
      resource_group: resourceGroup,
    },
    graph: { path: graph.path },
  };
}

function contents(stores: readonly SimulatedStore[], query: z.output<typeof Query>): object {
  const shown = selected(stores, query).map((store) => {
    const pattern = patternOf(query.name ?? '*');
    const named = store.secrets().filter(({ name }) => pattern.test(name));
    const secrets = named.sort((one, other) => other.updated_at.localeCompare(one.updated_at));
    return [store.name, { total: secrets.length, secrets: secrets.slice(0, query.limit) }];
  });
  return { stores: Object.fromEntries(shown) };
}

function changeByHand(stores: readonly SimulatedStore[], body: unknown): HttpResponse {
  const { store: name, ...change } = HandChanges.parse(body);
  const store = stores.find((one) => one.name === name);
  if (!store) return unknownStore(name, stores);
  const changed = store.changeByHand(change);
  return changed > 0
    ? jsonResponse(200, { changed })
    : jsonResponse(404, { errors: [`${name} has no secret ${change.name} that could be changed`] });
}

function unknownStore(name: string, simulations: readonly Simulation[]): HttpResponse {
  const names = simulations.map((one) => one.name).join(', ');
  return jsonResponse(400, { errors: [`unknown store ${name}; expected one of ${names}`] });
}

function calls(simulations: readonly Simulation[], query: z.output<typeof Query>): object {
  const all = selected(simulations, query).flatMap((simulation) => simulation.calls());
  return { calls: all.sort((one, other) => one.at.localeCompare(other.at)).slice(-query.limit) };
}

/** The simulation that `?store=` names, or all of them. */
function selected<Kind extends Simulation>(
  simulations: readonly Kind[],
  { store }: { store?: string | undefined },
): Kind[] {
  return simulations.filter(({ name }) => store === undefined || name === store);
}

function faultsOf({ name, faults }: Simulation): object[] {
  return faults.list().map((fault) => ({ store: name, ...fault, id: `${name}:${fault.id}` }));
}

function addFault(simulations: readonly Simulation[], body: unknown): HttpResponse {
  const { store } = z.object({ store: z.string() }).parse(body);
  const simulation = simulations.find(({ name }) => name === store);
  if (!simulation) return unknownStore(store, simulations);
  return jsonResponse(201, { id: `${store}:${simulation.faults.add(FaultSpec.parse(body))}` });
}

function clearFaults(simulations: readonly Simulation[], query: z.output<typeof Query>): HttpResponse {
  for (const simulation of selected(simulations, query)) simulation.faults.clear();
  return noContent;
}

function removeFault(simulations: readonly Simulation[], request: Request): HttpResponse {
  const [store, id = ''] = String(request.params.id).split(':');
  const isRemoved = simulations.some(({ name, faults }) => name === store && faults.remove(id));
  return isRemoved ? noContent : jsonResponse(404, { errors: ['fault not found'] });
}

function reset(simulations: readonly Simulation[], query: z.output<typeof Query>): HttpResponse {
  for (const simulation of selected(simulations, query)) simulation.reset();
  return noContent;
}

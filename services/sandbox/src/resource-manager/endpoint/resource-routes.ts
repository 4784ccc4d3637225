import express, { type Request, type RequestHandler, type Response } from 'express';
import type { HttpResponse } from '../../simulation/http-response.ts';
import { type CallContext, serveCall } from '../../simulation/serve-call.ts';
import { ArmError, armErrors, armResponse } from './arm-error.ts';
import { callerOf } from './caller.ts';
import {
  type Content,
  getGroup,
  getProvider,
  getResource,
  getSubscription,
  getTenantProvider,
  type Location,
  listGroups,
  listProviders,
  listResources,
  listResourcesOfType,
  listSubscriptions,
  type Operation,
} from './operations.ts';
import { apiVersionOf, type ResourceManagerState } from './request-checks.ts';

/** Dependencies of the API's endpoint. */
export interface ResourceRoutesContext extends ResourceManagerState {
  calls: Omit<CallContext, 'errors'>;
  /** How many items a page of a list has. */
  pageSize: number;
}

/** Names of the operations on resources of these types in faults and calls; those of other types are `Resources`. */
const groupsOfOperations: Readonly<Record<string, string>> = {
  'microsoft.compute/virtualmachines': 'VirtualMachines',
  'microsoft.compute/virtualmachinescalesets': 'VirtualMachineScaleSets',
  'microsoft.compute/virtualmachinescalesets/virtualmachines': 'VirtualMachineScaleSetVMs',
  'microsoft.managedidentity/userassignedidentities': 'UserAssignedIdentities',
};

/** Routes of the API: https://learn.microsoft.com/rest/api/resources. Case does not matter in paths. */
export function resourceRoutes(context: ResourceRoutesContext): RequestHandler {
  const routes = express.Router();
  // The ID of a resource begins with a slash, and some clients add another one.
  routes.use((request, _response, next) => {
    request.url = request.url.replace(/^\/+/, '/');
    next();
  });
  const on = (path: string, name: string, operation: Operation) =>
    routes.get(path, (request, response) => serve(context, { name, operation }, request, response));
  const subscription = '/subscriptions/:subscriptionId';
  const group = `${subscription}/resourceGroups/:resourceGroup`;
  on('/subscriptions', 'Subscriptions_List', listSubscriptions);
  on(subscription, 'Subscriptions_Get', getSubscription);
  on(`${subscription}/resourceGroups`, 'ResourceGroups_List', listGroups);
  on(group, 'ResourceGroups_Get', getGroup);
  on(`${subscription}/resources`, 'Resources_List', listResources);
  on(`${group}/resources`, 'Resources_List', listResources);
  on('/providers/:namespace', 'Providers_Get', getTenantProvider);
  on(`${subscription}/providers`, 'Providers_List', listProviders);
  on(`${subscription}/providers/:namespace`, 'Providers_Get', getProvider);
  on(`${subscription}/providers/:namespace/*rest`, '', listResourcesOfType);
  on(`${group}/providers/:namespace/*rest`, '', byRest);
  routes.use((request, response) => serve(context, unknownPath, request, response));
  return routes;
}

const byRest: Operation = (context, location) =>
  (location.rest.length % 2 === 0 ? getResource : listResourcesOfType)(context, location);

const unknownPath = {
  name: 'unknown',
  operation: (): Content => {
    throw new ArmError(404, 'InvalidRequest', 'The sandbox does not simulate this request.');
  },
};

function serve(
  { calls, pageSize, ...state }: ResourceRoutesContext,
  { name, operation }: { name: string; operation: Operation },
  request: Request,
  response: Response,
): Promise<void> {
  const location = locationOf(request);
  const call = {
    operation: name === '' ? operationName(location) : name,
    name: (location.rest.at(-1) ?? (location.namespace || location.resourceGroup))?.slice(0, 256),
    region: location.subscriptionId.slice(0, 64) || undefined,
    sent: Object.keys(request.query).slice(0, 32),
  };
  return serveCall({ ...calls, errors: armErrors }, call, response, async () => {
    const { directory } = state;
    const signedIn = { directory, host: hostOf(request), nowMs: calls.now() };
    const caller = await callerOf(request.header('authorization'), signedIn);
    const apiVersion = apiVersionOf(request);
    return contentResponse(operation({ ...state, caller, apiVersion }, location), pageSize, request);
  });
}

function locationOf({ params }: Request): Location {
  const {
    subscriptionId = '',
    resourceGroup,
    namespace = '',
    rest = [],
  } = params as Record<string, string> & {
    rest?: string[];
  };
  return {
    subscriptionId,
    namespace,
    rest: [...rest],
    ...(resourceGroup !== undefined && { resourceGroup }),
  };
}

function operationName({ namespace, rest }: Location): string {
  const type = [namespace, ...rest.filter((_, index) => index % 2 === 0)].join('/').toLowerCase();
  const group = groupsOfOperations[type] ?? 'Resources';
  if (rest.length % 2 === 1) return `${group}_List`;
  return group === 'Resources' ? 'Resources_GetById' : `${group}_Get`;
}

/** The host that a client meant, where it is redirected here. */
const hostOf = (request: Request): string => request.header('x-forwarded-host') ?? '';

const remaining = { 'x-ms-ratelimit-remaining-subscription-reads': '11999' };

function contentResponse(result: Content, pageSize: number, request: Request): HttpResponse {
  if ('content' in result) return armResponse(200, result.content, remaining);
  const start = Number(request.query.$skiptoken ?? 0);
  if (!Number.isSafeInteger(start) || start < 0)
    throw new ArmError(400, 'InvalidSkipToken', 'The value of $skiptoken is not valid.');
  const end = start + pageSize;
  const nextLink = end < result.items.length ? { nextLink: linkTo(request, end) } : {};
  return armResponse(200, { value: result.items.slice(start, end), ...nextLink }, remaining);
}

/** The URL of the page that begins at an item, at the host that the client meant. */
function linkTo(request: Request, start: number): string {
  const forwarded = hostOf(request);
  const origin =
    forwarded === ''
      ? `${request.protocol}://${request.header('host')}${request.baseUrl}`
      : `https://${forwarded}`;
  const url = new URL(`${origin}${request.url}`);
  url.searchParams.set('$skiptoken', String(start));
  return url.href;
}

/** The parts of the ID of a resource. */
export interface ResourceId {
  subscriptionId: string;
  resourceGroup: string;
  namespace: string;
  /** Without the namespace, such as `virtualMachines` or `virtualMachineScaleSets/virtualMachines`. */
  type: string;
  /** The last name of the ID. */
  name: string;
  /** All names of the ID: those of the parents, and the last one. */
  names: string[];
}

const pattern =
  /^\/subscriptions\/([^/]+)\/resourcegroups\/([^/]+)\/providers\/([^/]+)((?:\/[^/]+\/[^/]+)+)$/i;

/** Parses the ID of a resource in a resource group; undefined if it is not such an ID. */
export function parseResourceId(id: string): ResourceId | undefined {
  const [, subscriptionId = '', resourceGroup = '', namespace = '', rest = ''] = pattern.exec(id) ?? [];
  if (rest === '') return undefined;
  const segments = rest.slice(1).split('/');
  const names = segments.filter((_, index) => index % 2 === 1);
  const type = segments.filter((_, index) => index % 2 === 0).join('/');
  return { subscriptionId, resourceGroup, namespace, type, name: names.at(-1) ?? '', names };
}

/** Whether an ID or scope is the other one or lies within it. Both are compared by whole segments, and case does not matter. */
export function isWithin(id: string, scope: string): boolean {
  return `${id}/`.toLowerCase().startsWith(`${scope.replace(/\/+$/, '')}/`.toLowerCase());
}

/** The form of an ID in the claims of a token, which differs in case from the one in responses. */
export const idInClaims = (id: string): string => id.replace(/\/resourcegroups\//i, '/resourcegroups/');

/** The form of an ID in responses. */
export const idInResponses = (id: string): string => id.replace(/\/resourcegroups\//i, '/resourceGroups/');

/** The ID of a resource in a resource group, in its parts. */
export interface ResourceId {
  subscriptionId: string;
  resourceGroup: string;
  /** The provider's namespace and the types, such as `Microsoft.Web/sites/slots`. */
  type: string;
  /** One name for each type. */
  names: readonly string[];
}

const segment = /^(?!\.{1,2}$)[^\p{Cc}\s/\\?#%]{1,260}$/u;

/** Parses the ID of a resource in a resource group. Returns undefined for any other text, so for what could change a URL. */
export function parseResourceId(id: string): ResourceId | undefined {
  const [empty, subscriptions, subscriptionId, groups, resourceGroup, providers, namespace, ...path] =
    id.split('/');
  const literals = [subscriptions, groups, providers].map((word) => word?.toLowerCase());
  if (empty !== '' || literals.join() !== 'subscriptions,resourcegroups,providers') return undefined;
  if (path.length < 2 || path.length % 2 !== 0 || path.length > 16) return undefined;
  if (![subscriptionId, resourceGroup, namespace, ...path].every((part) => segment.test(part ?? '')))
    return undefined;
  return {
    subscriptionId: subscriptionId!,
    resourceGroup: resourceGroup!,
    type: [namespace, ...path.filter((_, index) => index % 2 === 0)].join('/'),
    names: path.filter((_, index) => index % 2 === 1),
  };
}

import {
  type AssignedIdentity,
  MissingPermission,
  type Provider,
  type ProviderResource,
  type ResourceName,
} from '../provider/provider.ts';

/** A lookup that a decision needs before it can continue. */
export type Lookup =
  | { find: 'scaleSet' | 'machine'; name: ResourceName }
  | { find: 'resource'; id: string }
  /** User-assigned identities of a flexible scale set, by their resource IDs. */
  | { find: 'identities'; ids: readonly string[] }
  /**
   * The virtual machine that is an instance of a flexible scale set. `isOptional`: whether its name suffices if it may
   * not be read.
   */
  | { find: 'instance'; name: ResourceName; isOptional: boolean };

/** The results of the lookups so far. */
export interface LookupResults {
  /** What the request names; null if it does not exist. */
  resource?: ProviderResource | null;
  identities?: readonly AssignedIdentity[];
  /** Null if it does not exist; `unreadable` if the mount's credentials may not read virtual machines. */
  instance?: ProviderResource | null | 'unreadable';
}

/** Looks something up, and adds it to what was found before. Throws what the provider throws. */
export async function lookUp(
  provider: Provider,
  lookup: Lookup,
  found: LookupResults,
): Promise<LookupResults> {
  switch (lookup.find) {
    case 'scaleSet':
      return { ...found, resource: (await provider.findScaleSet(lookup.name)) ?? null };
    case 'machine':
      return { ...found, resource: (await provider.findMachine(lookup.name)) ?? null };
    case 'resource':
      return { ...found, resource: (await provider.findResource(lookup.id)) ?? null };
    case 'identities':
      return { ...found, identities: await findIdentities(provider, lookup.ids) };
    case 'instance':
      return { ...found, instance: await findInstance(provider, lookup) };
  }
}

async function findIdentities(provider: Provider, ids: readonly string[]): Promise<AssignedIdentity[]> {
  const identities = await Promise.all(ids.map((id) => provider.findIdentity(id)));
  return identities.filter((identity) => identity !== undefined);
}

/** The permissions that a flexible scale set requires do not include those for virtual machines. */
async function findInstance(
  provider: Provider,
  { name, isOptional }: Extract<Lookup, { find: 'instance' }>,
): Promise<NonNullable<LookupResults['instance']> | null> {
  try {
    return (await provider.findMachine(name)) ?? null;
  } catch (error) {
    if (isOptional && error instanceof MissingPermission) return 'unreadable';
    throw error;
  }
}

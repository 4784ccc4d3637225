/** The identity of a token, as far as the paths of policies can name it (docs/conventions/access.md#templates-in-paths). */
export interface TemplateValues {
  id: string;
  name: string;
  metadata: Readonly<Record<string, string>>;
  aliases: readonly { mountId: string; mountAccessor: string; id: string; name: string }[];
  groups: readonly { id: string; name: string; metadata: Readonly<Record<string, string>> }[];
}

const placeholder = /\{\{(.*?)\}\}/g;

/** Whether a path of a policy contains a template. */
export const isTemplate = (path: string): boolean => path.includes('{{');

/** Whether each `{{` of a path has its `}}`. */
export const isBalanced = (path: string): boolean => !/\{\{|\}\}/.test(path.replace(placeholder, ''));

/**
 * Returns a path with the values of an identity. Undefined if it has no such value, and if a value would change what
 * the path means: an empty one, slashes, and wildcards, which only the author of the policy may write.
 */
export function resolvedPath(path: string, values: TemplateValues): string | undefined {
  let isResolved = true;
  const resolved = path.replace(placeholder, (_match, name: string) => {
    const value = templateValue(name.trim(), values) ?? '';
    if (value === '' || /[*/]/.test(value)) isResolved = false;
    return value;
  });
  return isResolved && plusSegments(resolved) === plusSegments(path) ? resolved : undefined;
}

/** Number of segments of a policy's path that are a wildcard. */
export const plusSegments = (path: string): number =>
  path.split('/').filter((part) => part === '+' || part === '+*').length;

function templateValue(name: string, values: TemplateValues): string | undefined {
  const [, owner, rest = ''] = /^identity\.(entity|groups)\.(.+)$/.exec(name) ?? [];
  return owner === 'entity' ? entityValue(rest, values) : groupValue(rest, values);
}

function entityValue(name: string, values: TemplateValues): string | undefined {
  const [, accessor, field = ''] = /^aliases\.([^.]+)\.(.+)$/.exec(name) ?? [];
  if (accessor === undefined) return fieldOf(values, name);
  const alias = values.aliases.find(({ mountAccessor }) => mountAccessor === accessor);
  return alias && fieldOf({ ...alias, metadata: {} }, field);
}

function groupValue(name: string, { groups }: TemplateValues): string | undefined {
  const [, by, key = '', field = ''] = /^(ids|names)\.([^.]+)\.(.+)$/.exec(name) ?? [];
  const nameOf = (group: Named) => (by === 'ids' ? group.id : group.name);
  const found = groups.filter((group) => nameOf(group).toLowerCase() === key.toLowerCase());
  const exact = found.find((group) => nameOf(group) === key);
  const group = exact ?? (found.length === 1 ? found[0] : undefined); // earlier versions accepted names that differ in letter case
  return by === undefined ? undefined : group && fieldOf(group, field);
}

type Named = Pick<TemplateValues, 'id' | 'name' | 'metadata'>;

function fieldOf({ id, name, metadata }: Named, field: string): string | undefined {
  if (field === 'id') return id;
  if (field === 'name') return name;
  const [, key] = /^metadata\.(.+)$/.exec(field) ?? [];
  return key !== undefined && Object.hasOwn(metadata, key) ? metadata[key] : undefined;
}

/** The industry's names of destination types (docs/conventions/http.md#alternative-names). */
const types: Readonly<Record<string, string>> = {
  'aws-sm': 'cloudA-sm',
  'azure-kv': 'cloudB-kv',
  'gcp-sm': 'cloudC-sm',
  gh: 'codehost',
  'vercel-project': 'webhost-project',
};

const folders: Readonly<Record<string, string>> = { 'github-apps': 'codehost-apps' };

const inverted = (names: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(names).map(([alternative, name]) => [name, alternative]));

const alternatives = { types: inverted(types), folders: inverted(folders) };

const lookUp = (names: Readonly<Record<string, string>>, name: string | undefined): string | undefined =>
  name !== undefined && Object.hasOwn(names, name) ? names[name] : undefined;

/** Returns the own name of a destination type that is given by either name. Any other text is returned as it is. */
export const destinationType = (given: string): string => lookUp(types, given) ?? given;

/** A path, and the other path of the same object; undefined if it has only one. */
interface PathNames {
  path: string;
  alternative: string | undefined;
}

/**
 * Returns both names of a path below `sys/sync` that is given by either. The path is decoded, without leading slashes, and
 * relative to its namespace: elsewhere, a mount or a secret may have these names.
 */
export function pathNames(given: string): PathNames {
  const path = replaced(given, { types, folders }) ?? given;
  return { path, alternative: replaced(path, alternatives) };
}

function replaced(path: string, names: typeof alternatives): string | undefined {
  if (!path.startsWith('sys/sync/')) return undefined;
  const segments = path.split('/');
  const at = segments[2] === 'destinations' ? 3 : 2;
  const name = lookUp(at === 3 ? names.types : names.folders, segments[at]);
  return name === undefined ? undefined : segments.with(at, name).join('/');
}

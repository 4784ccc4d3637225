/** A resource type of a namespace, with the versions of the API that know it. */
export interface ResourceTypeVersions {
  resourceType?: string;
  apiVersions?: string[];
}

/**
 * The newest version of the API that knows a type and is not a preview, or else the newest preview. Undefined if the
 * namespace does not have the type. Versions are dates, such as `2024-11-01` and `2025-01-01-preview`.
 */
export function newestVersion(types: readonly ResourceTypeVersions[], type: string): string | undefined {
  const found = types.find(({ resourceType }) => resourceType?.toLowerCase() === type.toLowerCase());
  const versions = (found?.apiVersions ?? []).filter((version) => /^\d{4}-\d{2}-\d{2}/.test(version)).sort();
  return versions.findLast((version) => version.length === 'yyyy-mm-dd'.length) ?? versions.at(-1);
}

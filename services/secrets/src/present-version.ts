/** A time as the API writes it; empty for none. */
export const presentTime = (time: Date | null): string => time?.toISOString() ?? '';

/** What stands over one version, in the words of the API. */
export function presentVersion(version: {
  version: number;
  createdAt: Date;
  deletionTime: Date | null;
  destroyed?: boolean;
  customMetadata: Record<string, string> | null;
}) {
  return {
    created_time: presentTime(version.createdAt),
    custom_metadata: presentCustomMetadata(version.customMetadata),
    deletion_time: presentTime(version.deletionTime),
    destroyed: version.destroyed ?? false,
    version: version.version,
  };
}

/** An empty map reads as null, like one that was never set. */
export const presentCustomMetadata = (map: Record<string, string> | null): Record<string, string> | null =>
  map === null || Object.keys(map).length === 0 ? null : map;

/** A time as the API writes it; empty for none. */
export const timeText = (time: Date | null): string => time?.toISOString() ?? '';

/** What stands over one version, in the words of the API. */
export function versionMetadata(version: {
  version: number;
  createdAt: Date;
  deletionTime: Date | null;
  destroyed?: boolean;
  customMetadata: Record<string, string> | null;
}) {
  return {
    created_time: timeText(version.createdAt),
    custom_metadata: customMetadataOrNull(version.customMetadata),
    deletion_time: timeText(version.deletionTime),
    destroyed: version.destroyed ?? false,
    version: version.version,
  };
}

/** An empty map reads as null, like one that was never set. */
export const customMetadataOrNull = (map: Record<string, string> | null): Record<string, string> | null =>
  map === null || Object.keys(map).length === 0 ? null : map;

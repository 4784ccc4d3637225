import { presentRetention } from '../../mounts/retention.ts';
import type { MetadataRow, VersionLine } from '../../queries/metadata.ts';

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

/** The metadata of a secret, with that of each version by its number. */
export const presentMetadata = (metadata: MetadataRow) => ({
  ...presentRetention(metadata),
  created_time: presentTime(metadata.createdAt),
  current_version: metadata.currentVersion,
  custom_metadata: presentCustomMetadata(metadata.customMetadata),
  oldest_version: metadata.oldestVersion,
  updated_time: presentTime(metadata.updatedAt),
  versions: Object.fromEntries(metadata.versions.map((line) => [line[0], presentVersionLine(line)])),
});

const presentVersionLine = ([, createdMs, deletionMs, destroyed]: VersionLine) => ({
  created_time: presentTime(new Date(createdMs)),
  deletion_time: presentTime(deletionMs === null ? null : new Date(deletionMs)),
  destroyed,
});

/** A time as the API writes it; an empty string for none. */
const presentTime = (time: Date | null): string => time?.toISOString() ?? '';

/** Returns null for an empty map, as for one that was never set. */
const presentCustomMetadata = (map: Record<string, string> | null): Record<string, string> | null =>
  map === null || Object.keys(map).length === 0 ? null : map;

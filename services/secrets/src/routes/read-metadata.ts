import { notFound } from '@secrets/domain';
import type { Context } from '../context.ts';
import { kvOperation } from '../kv-operation.ts';
import { presentRetention } from '../present-retention.ts';
import { presentCustomMetadata, presentTime } from '../present-version.ts';
import { type Metadata, readMetadata as queryMetadata, type VersionLine } from '../queries/metadata.ts';

export const readMetadata = (context: Context) =>
  kvOperation({
    method: 'get',
    kind: 'metadata',
    path: 'secret',
    summary: 'read what stands over a secret and its versions',
    handle: async ({ mount, path }) => {
      const found = await queryMetadata(context.db, mount, path);
      if (found === undefined) throw notFound();
      return { data: presentMetadata(found) };
    },
  });

const presentMetadata = (metadata: Metadata) => ({
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

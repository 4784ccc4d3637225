import { notFound } from '@secrets/domain';
import { keepingAnswer } from '../keeping-answer.ts';
import type { Kv } from '../kv.ts';
import { kvOperation } from '../kv-operation.ts';
import { type Metadata, readMetadata as queryMetadata, type VersionLine } from '../queries/metadata.ts';
import { customMetadataOrNull, timeText } from '../version-answer.ts';

export const readMetadata = (kv: Kv) =>
  kvOperation({
    method: 'get',
    kind: 'metadata',
    path: 'secret',
    summary: 'read what stands over a secret and its versions',
    handle: async ({ mount, path }) => {
      const found = await queryMetadata(kv.db, mount, path);
      if (found === undefined) throw notFound();
      return { data: answer(found) };
    },
  });

const answer = (metadata: Metadata) => ({
  ...keepingAnswer(metadata),
  created_time: timeText(metadata.createdAt),
  current_version: metadata.currentVersion,
  custom_metadata: customMetadataOrNull(metadata.customMetadata),
  oldest_version: metadata.oldestVersion,
  updated_time: timeText(metadata.updatedAt),
  versions: Object.fromEntries(metadata.versions.map((line) => [line[0], versionAnswer(line)])),
});

const versionAnswer = ([, createdMs, deletionMs, destroyed]: VersionLine) => ({
  created_time: timeText(new Date(createdMs)),
  deletion_time: timeText(deletionMs === null ? null : new Date(deletionMs)),
  destroyed,
});

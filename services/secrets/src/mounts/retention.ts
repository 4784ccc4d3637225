import { flag, integerBetween, seconds } from '@secrets/http';
import { z } from 'zod';

/** Retention of versions, and conditions of writes, for a mount or one secret. */
export interface Retention {
  maxVersions: number;
  casRequired: boolean;
  /** 0 for never. */
  deleteAfterSeconds: number;
}

/** Omitted fields keep their values. */
export type RetentionChange = { [Field in keyof Retention]?: Retention[Field] | undefined };

/** The fields of a request that sets retention. */
export const retentionFields = {
  max_versions: integerBetween(0, 10_000).optional(),
  cas_required: flag.optional(),
  delete_version_after: seconds.optional(),
};

const RetentionFields = z.object(retentionFields);

export const retentionChange = (given: z.infer<typeof RetentionFields>): RetentionChange => ({
  maxVersions: given.max_versions,
  casRequired: given.cas_required,
  deleteAfterSeconds: given.delete_version_after,
});

export const presentRetention = (retention: Retention) => ({
  cas_required: retention.casRequired,
  delete_version_after: durationText(retention.deleteAfterSeconds),
  max_versions: retention.maxVersions,
});

/** Seconds as hours, minutes and seconds, such as `3h25m19s`; `0s` for none. */
export function durationText(seconds: number): string {
  const hours = Math.floor(seconds / 3_600);
  const minutes = Math.floor((seconds % 3_600) / 60);
  const minutePart = hours > 0 || minutes > 0 ? `${minutes}m` : '';
  return `${hours > 0 ? `${hours}h` : ''}${minutePart}${seconds % 60}s`;
}

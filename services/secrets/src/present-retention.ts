import { durationText } from './duration-text.ts';

/** What is kept of old versions, in the words of the API. */
export const presentRetention = (retention: {
  maxVersions: number;
  casRequired: boolean;
  deleteAfterSeconds: number;
}) => ({
  cas_required: retention.casRequired,
  delete_version_after: durationText(retention.deleteAfterSeconds),
  max_versions: retention.maxVersions,
});

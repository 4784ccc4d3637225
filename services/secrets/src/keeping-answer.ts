import { durationText } from './duration-text.ts';

/** What is kept of old versions, in the words of the API. */
export const keepingAnswer = (keeping: {
  maxVersions: number;
  casRequired: boolean;
  deleteAfterSeconds: number;
}) => ({
  cas_required: keeping.casRequired,
  delete_version_after: durationText(keeping.deleteAfterSeconds),
  max_versions: keeping.maxVersions,
});

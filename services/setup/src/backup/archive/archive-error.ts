/** An archive cannot be used. The message is for the operator, and contains nothing of what is in the archive. */
export class ArchiveError extends Error {
  override readonly name = 'ArchiveError';
}

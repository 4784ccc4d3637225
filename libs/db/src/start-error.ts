/** The database cannot be used by this process. The message is for the operator, and says what to do if anything can be done. */
export class DatabaseStartError extends Error {
  override readonly name = 'DatabaseStartError';
}

/** Why the embedded database cannot start; the message says what to do. */
export class DatabaseStartError extends Error {
  override readonly name = 'DatabaseStartError';
}

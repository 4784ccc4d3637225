/** Where the calls of a destination get their token from. */
export interface Tokens {
  /** Returns the token to use. */
  current(signal: AbortSignal): Promise<string>;
  /** Returns a token in place of one that was refused; undefined if there is no other. */
  replacementFor(refused: string, signal: AbortSignal): Promise<string | undefined>;
}

/** A token that the owner of the destination has created. */
export const personalToken = (token: string): Tokens => ({
  current: async () => token,
  replacementFor: async () => undefined,
});

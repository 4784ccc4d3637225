const lifetimeSeconds = 30;
const leewaySeconds = 5;

const nowSeconds = (): number => Math.floor(Date.now() / 1_000);

/** When a signature that is made now expires, in seconds since 1970. */
export const expiry = (): number => nowSeconds() + lifetimeSeconds;

/** Whether a signature has expired, allowing for clocks that differ a little. */
export const isExpired = (expiresAt: unknown): boolean =>
  typeof expiresAt !== 'number' || expiresAt + leewaySeconds < Date.now() / 1_000;

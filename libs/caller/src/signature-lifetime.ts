const lifetimeSeconds = 30;
const leewaySeconds = 5;

/** The clock that signatures are made and verified by: milliseconds since 1970. */
interface Clock {
  now(): number;
}

/** When a signature that is made now expires, in seconds since 1970. */
export const expiry = ({ now }: Clock): number => Math.floor(now() / 1_000) + lifetimeSeconds;

/** Whether a signature has expired, allowing for clocks that differ a little. */
export const isExpired = (expiresAt: unknown, { now }: Clock): boolean =>
  typeof expiresAt !== 'number' || expiresAt + leewaySeconds < now() / 1_000;

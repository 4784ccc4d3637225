/** Returns the time by the clock of the database, in milliseconds since 1970. */
export type DatabaseTime = () => number;

/** Seconds by which the clock of this process is ahead of that of the database; negative if it is behind. */
export const clockSkewSeconds = (databaseTime: DatabaseTime): number => (Date.now() - databaseTime()) / 1_000;

const toleratedSeconds = 1;

/** Describes a difference for an operator; undefined if it is usual. */
export function skewNote(seconds: number): string | undefined {
  if (Math.abs(seconds) <= toleratedSeconds) return undefined;
  const [amount, direction] = [Math.abs(seconds).toFixed(1), seconds > 0 ? 'ahead of' : 'behind'];
  return `the clock of this process is ${amount} s ${direction} that of the database`;
}

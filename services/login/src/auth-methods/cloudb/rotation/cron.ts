import { Cron } from 'croner';

/**
 * The first time of a schedule, a cron expression with five fields in UTC, after a given one; null if there is none.
 * Throws if it is malformed.
 */
export const nextTime = (schedule: string, after: Date): Date | null =>
  new Cron(schedule, { timezone: 'UTC', mode: '5-part' }).nextRun(after);

/** Whether a text is a schedule that has a next time. */
export function isSchedule(text: string): boolean {
  try {
    return nextTime(text, new Date()) !== null;
  } catch {
    return false;
  }
}

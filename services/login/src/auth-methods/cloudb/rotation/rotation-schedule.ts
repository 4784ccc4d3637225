import type { ConfigSettings } from '../config/config-settings.ts';
import { nextTime } from './cron.ts';

type ScheduleFields = Pick<
  ConfigSettings,
  'rotation_period' | 'rotation_schedule' | 'rotation_window' | 'disable_automated_rotation'
>;

/**
 * When the next automated rotation begins: a period after the secret became the current one, or at the next time of the
 * schedule, in UTC. Null if there is none.
 */
export function nextRotation(settings: ScheduleFields, secretSince: Date, now: Date): Date | null {
  if (settings.disable_automated_rotation) return null;
  if (settings.rotation_period > 0) return new Date(secretSince.getTime() + settings.rotation_period * 1_000);
  return settings.rotation_schedule === '' ? null : nextTime(settings.rotation_schedule, now);
}

/** Whether the next rotation follows from the same fields. */
export const isSameSchedule = (one: ScheduleFields, other: ScheduleFields): boolean =>
  one.rotation_period === other.rotation_period &&
  one.rotation_schedule === other.rotation_schedule &&
  one.disable_automated_rotation === other.disable_automated_rotation;

/** Whether a rotation may no longer begin, because its window is over. */
export const isMissed = ({ rotation_window }: ScheduleFields, scheduledAt: Date, now: Date): boolean =>
  rotation_window > 0 && now.getTime() > scheduledAt.getTime() + rotation_window * 1_000;

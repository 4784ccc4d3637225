import { type DestinationDescription, type Fields, type SettingsOf, settingsOf } from '@secrets/destinations';
import { Fault, Problem } from '@secrets/domain';
import type { DestinationSettings } from './driver.ts';

/**
 * Parses the stored settings of a destination, before its driver gets them. Throws `Fault` `rejected`, which names the
 * field, for a value that no request could have set.
 */
export function parsedSettings(
  description: DestinationDescription | undefined,
  name: string,
  stored: Record<string, unknown>,
): Record<string, unknown> {
  if (description === undefined) return stored;
  try {
    return settingsOf(description, stored, `destination ${name}`);
  } catch (error) {
    throw error instanceof Problem ? new Fault('rejected', error.message) : error;
  }
}

/** The settings of a destination, with the types of the fields of its type. */
export const settingsFor = <Declared extends Fields>(
  _: DestinationDescription<Declared>,
  { settings }: DestinationSettings,
): SettingsOf<Declared> => settings as unknown as SettingsOf<Declared>;

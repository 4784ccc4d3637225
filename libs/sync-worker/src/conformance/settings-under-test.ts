import type { DestinationDescription, Fields, PushedName, SettingsOf } from '@secrets/destinations';
import type { DriverHarness } from './driver-harness.ts';

/** Another value of a setting than its default. */
export interface Push<Value = unknown> {
  value: Value;
  /** Other settings that it needs; by default, those of the harness. */
  with?: Record<string, unknown>;
  /** Whether the driver keeps what somebody else has added to the setting at the destination. */
  keepsAdditions?: true;
}

/** Driver whose settings `describeSettings` tests. */
export interface SettingsUnderTest<Declared extends Fields> {
  description: DestinationDescription<Declared>;
  /** Values with which the settings that are pushed are tried. */
  pushes: { [Name in PushedName<Declared>]: Push<SettingsOf<Declared>[Name & keyof SettingsOf<Declared>]> };
  /** Settings of further destinations, with which the driver reads the settings that others do not need. */
  variants?: readonly Record<string, unknown>[];
  start(canary: string): Promise<DriverHarness>;
}

import type { cloudASm, SettingsOf } from '@secrets/destinations';
import { Fault } from '@secrets/domain';

export type CloudASettings = SettingsOf<typeof cloudASm.fields>;

/**
 * Returns the destination's own region, else the worker's default.
 * @throws {Fault} `rejected`, if there is neither
 */
export function regionOf({ region }: CloudASettings, defaultRegion: string | undefined): string {
  if (region) return region;
  if (defaultRegion) return defaultRegion;
  throw new Fault('rejected', "neither the destination nor the worker's environment sets a region", {
    mayPass: true,
  });
}

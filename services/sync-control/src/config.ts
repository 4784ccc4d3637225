import { budgets, installationName, secretNamePrefix, serviceEnv, serviceUrls } from '@secrets/service';
import type { OwnInstallation } from '@secrets/sync-entries';
import { z } from 'zod';
import type { BrakeLimits } from './changes/removal-brake.ts';

const sweepSeconds = z.coerce.number().min(0.05).max(3_600).optional();

/** The variables that sync-control has in its own process and in that of all services. */
export const syncControlEnv = {
  SECRET_NAME_PREFIX: secretNamePrefix,
  INSTALLATION: installationName,
  /** Seconds between two runs of the reconciliation. */
  RECONCILE_SECONDS: z.coerce.number().int().min(1).default(300),
  /** Calls per second and account, such as `cloudA-sm=200`, in place of the provider's published limit. */
  BUDGETS: budgets,
  /** Removals from a destination within an hour, because secrets or keys are gone, up to which none needs a confirmation. */
  REMOVAL_BRAKE_ENTRIES: z.coerce.number().int().min(1).default(10),
  /** Percentage of a destination's entries above which such removals need a confirmation; 100 for never. */
  REMOVAL_BRAKE_PERCENT: z.coerce.number().min(0).max(100).default(20),
};

export const Env = z.object({
  ...serviceEnv(7003),
  ...syncControlEnv,
  AMQP_URL: z.string().min(1),
  SECRETS_URL: serviceUrls().default('http://127.0.0.1:7002'),
  /** Seconds between two searches for lost announcements; 2 if absent. */
  LOST_SWEEP_SECONDS: sweepSeconds,
  /** The earlier name of `LOST_SWEEP_SECONDS`. */
  SWEEP_SECONDS: sweepSeconds,
  /** Seconds without a message after which an announcement counts as lost. */
  LOST_AFTER_SECONDS: z.coerce.number().min(1).max(86_400).default(5),
});

const Settings = z.object(syncControlEnv);

/** The settings of the operator, or their defaults. */
export type SyncControlSettings = z.infer<typeof Settings>;

export interface SyncControlConfig {
  settings: SyncControlSettings;
  secretsUrl: string;
  /** Where the files of the database are; undefined if that is not to be compared. */
  place?: string | undefined;
  /** Seconds between two searches for work on destinations, looks, names and removals, and between counts; 1 if absent. */
  pollSeconds?: number;
  /** How lost announcements are found; by default every 2 s, those without a message for 5 s. */
  lost?: { sweepSeconds: number; afterSeconds: number };
}

/** The settings of the app in an environment. */
export const toConfig = (env: z.infer<typeof Env>): SyncControlConfig => ({
  settings: env,
  secretsUrl: env.SECRETS_URL,
  lost: {
    sweepSeconds: env.LOST_SWEEP_SECONDS ?? env.SWEEP_SECONDS ?? defaultLost.sweepSeconds,
    afterSeconds: env.LOST_AFTER_SECONDS,
  },
});

export const defaultLost = { sweepSeconds: 2, afterSeconds: 5 };

export const installationOf = ({ settings, place }: SyncControlConfig): OwnInstallation => ({
  name: settings.INSTALLATION,
  place,
});

export const brakeOf = (settings: SyncControlSettings): BrakeLimits => ({
  minEntries: settings.REMOVAL_BRAKE_ENTRIES,
  share: settings.REMOVAL_BRAKE_PERCENT / 100,
});

import {
  canonicalValue,
  identityTokenSeconds,
  requiredSetting,
  secretSetting,
  setting,
  withoutNul,
} from '@secrets/domain';
import { flag, integerBetween, seconds } from '@secrets/http';
import { z } from 'zod';
import { type Environment, environments } from '../directory/environments.ts';

const audienceCharacters = 600;
const plainId = /^[A-Za-z0-9][A-Za-z0-9.-]{0,254}$/;

const environment = z
  .string()
  .refine((word) => environmentNamed(word) !== undefined, {
    error: `must be one of ${environments.join(', ')}`,
  })
  .meta({ enum: environments });

/** Returns the environment of a name, which may be an alternative one; undefined if there is none. */
export function environmentNamed(word: string): Environment | undefined {
  const name = word === '' ? 'public' : canonicalValue(word.toLowerCase());
  return environments.find((known) => known === name);
}

const nanosecondsInSecond = 1_000_000_000;

/**
 * A delay in seconds. As a number that would be decades, it is in nanoseconds, as responses show it: what was read can be
 * written back.
 */
const delay = z
  .preprocess((given) => {
    if (typeof given !== 'string' && typeof given !== 'number') return given;
    const count = typeof given === 'string' ? given.trim() : given;
    const isShown = Number(count) >= nanosecondsInSecond && /^\d+$/.test(String(count));
    return isShown ? Number(count) / nanosecondsInSecond : given;
  }, seconds)
  .meta({ type: 'integer', minimum: 0, maximum: 100_000 });

/** The delay in a response: Vault takes seconds and shows nanoseconds (hashicorp/vault-plugin-auth-azure, path_config.go). */
export const shownDelay = (seconds: number): number => seconds * nanosecondsInSecond;

const plainText = (schema: z.ZodString) => setting(schema.meta(withoutNul), { default: '' });

/** For the description of the API: the simplest cron expressions. */
const schedulePattern =
  '^(?:(?:[*]|[1-5]?[0-9]) (?:[*]|1?[0-9]|2[0-3]) (?:[*]|[1-9]|1[0-9]|2[0-8]) (?:[*]|[1-9]|1[0-2]) (?:[*]|[0-6]))?$';

/**
 * The fields of a configuration (docs/conventions/cloudb.md#configuration). A secret one is stored in the column
 * `sealed_<name>`, which a migration must add.
 */
export const configDeclaration = {
  tenant_id: requiredSetting(z.string().regex(plainId, 'must be a tenant ID or a domain of the tenant')),
  resource: requiredSetting(
    z
      .string()
      .trim()
      .min(1, 'must not be empty')
      .max(2_048)
      .meta({ pattern: '^[^\\u0000]*[!-~][^\\u0000]*$' }),
  ),
  environment: setting(environment, { default: 'public' }),
  client_id: plainText(z.string().max(255)),
  client_secret: secretSetting(z.string().max(4_096)),
  identity_token_audience: plainText(
    z.string().max(audienceCharacters - 1, `must have fewer than ${audienceCharacters} characters`),
  ),
  /** 0 is the default. */
  identity_token_ttl: setting(
    seconds
      .refine(
        (given) => given === 0 || (given >= identityTokenSeconds.least && given <= identityTokenSeconds.most),
        { error: 'must be between 1m and 24h' },
      )
      .meta({ type: 'integer', minimum: identityTokenSeconds.least, maximum: identityTokenSeconds.most }),
    { default: 0 },
  ),
  root_password_ttl: setting(
    seconds
      .refine((given) => given >= 3_600, { error: 'must be at least 1h' })
      .meta({ type: 'integer', minimum: 3_600, maximum: 3_153_600_000 }),
    { default: 4_380 * 3_600 },
  ),
  max_retries: setting(integerBetween(0, 20), { default: 3 }),
  retry_delay: setting(delay, { default: 4 }),
  max_retry_delay: setting(delay, { default: 60 }),
  rotation_period: setting(seconds, { default: 0 }),
  rotation_schedule: setting(z.string().max(256).meta({ pattern: schedulePattern }), { default: '' }),
  rotation_window: setting(seconds, { default: 0 }),
  disable_automated_rotation: setting(flag, { default: false }),
  /** Whether login refuses roles that name no service principal or group. */
  require_principal_binding: setting(flag, { default: false }),
};

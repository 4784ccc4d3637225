import { identityTokenSeconds, invalid, withoutNul } from '@secrets/domain';
import { flag, integerBetween, seconds, secondsBetween } from '@secrets/http';
import { z } from 'zod';
import { environments } from '../directory/environments.ts';
import { isSchedule } from '../rotation/cron.ts';

const audienceCharacters = 600;
const plainId = /^[A-Za-z0-9][A-Za-z0-9.-]{0,254}$/;
/** Names that the provider's own tools use. */
const otherNames: Readonly<Record<string, string>> = {
  '': 'public',
  azurepubliccloud: 'public',
  azurechinacloud: 'china',
  azureusgovernmentcloud: 'usgovernment',
};

const environment = z
  .string()
  .transform((word) => otherNames[word.toLowerCase()] ?? word.toLowerCase())
  .pipe(z.enum(environments, { error: `must be one of ${environments.join(', ')}` }))
  .meta({ enum: environments });

/** For the description of the API: the simplest cron expressions. */
const schedulePattern =
  '^(?:(?:[*]|[1-5]?[0-9]) (?:[*]|1?[0-9]|2[0-3]) (?:[*]|[1-9]|1[0-9]|2[0-8]) (?:[*]|[1-9]|1[0-2]) (?:[*]|[0-6]))?$';

/** The body of `auth/<mount>/config` (docs/conventions.md#31-configuration). Omitted fields keep their values. */
export const ConfigBody = z.object({
  tenant_id: z.string().regex(plainId, 'must be a tenant ID').optional(),
  resource: z
    .string()
    .trim()
    .min(1, 'must not be empty')
    .max(2_048)
    .meta({ pattern: '^[^\\u0000]*[!-~][^\\u0000]*$' })
    .optional(),
  environment: environment.optional(),
  client_id: z.string().max(255).meta(withoutNul).optional(),
  client_secret: z.string().max(4_096).optional(),
  identity_token_audience: z
    .string()
    .max(audienceCharacters - 1, `must have fewer than ${audienceCharacters} characters`)
    .meta(withoutNul)
    .optional(),
  identity_token_ttl: secondsBetween(
    identityTokenSeconds.least,
    identityTokenSeconds.most,
    '1m and 24h',
  ).optional(),
  root_password_ttl: seconds
    .refine((given) => given >= 3_600, { error: 'must be at least 1h' })
    .meta({ type: 'integer', minimum: 3_600, maximum: 3_153_600_000 })
    .optional(),
  max_retries: integerBetween(0, 20).optional(),
  retry_delay: seconds.optional(),
  max_retry_delay: seconds.optional(),
  rotation_period: seconds.optional(),
  rotation_schedule: z.string().max(256).meta({ pattern: schedulePattern }).optional(),
  rotation_window: seconds.optional(),
  disable_automated_rotation: flag.optional(),
  /** Whether login refuses roles that name no service principal or group. */
  require_principal_binding: flag.optional(),
});
type ConfigBody = z.infer<typeof ConfigBody>;

/** A write or a merge patch, in which null restores the default of a field, or removes the secret. */
export type ConfigPatch = { [Field in keyof ConfigBody]: ConfigBody[Field] | null };

/** The body of a merge patch. */
export const ConfigPatch = z.object(
  Object.fromEntries(Object.entries(ConfigBody.shape).map(([name, field]) => [name, field.nullable()])),
) as unknown as z.ZodType<ConfigPatch>;

/** A mount's configuration as it is stored, without the secret. */
export type ConfigSettings = {
  [Field in keyof Omit<ConfigBody, 'client_secret'>]-?: NonNullable<ConfigBody[Field]>;
};

/** A configuration, and whether a secret belongs to it. */
export interface StoredConfig {
  settings: ConfigSettings;
  hasSecret: boolean;
}

const defaults = {
  environment: 'public',
  client_id: '',
  identity_token_audience: '',
  identity_token_ttl: 3_600,
  root_password_ttl: 4_380 * 3_600,
  max_retries: 3,
  retry_delay: 4,
  max_retry_delay: 60,
  rotation_period: 0,
  rotation_schedule: '',
  rotation_window: 0,
  disable_automated_rotation: false,
  require_principal_binding: false,
} as const;

/** A request merged into what is stored. Throws `invalid` if the result lacks a field or contradicts itself. */
export function mergedConfig(
  stored: StoredConfig | undefined,
  { client_secret, ...fields }: ConfigPatch,
): StoredConfig {
  const settings = { ...defaults, ...without(null, { ...stored?.settings, ...without(undefined, fields) }) };
  const { tenant_id, resource } = settings;
  if (tenant_id === undefined) throw invalid('tenant_id is required');
  if (resource === undefined) throw invalid('resource is required');
  const hasSecret = client_secret === undefined ? stored?.hasSecret === true : Boolean(client_secret);
  if (hasSecret && settings.identity_token_audience !== '')
    throw invalid('client_secret and identity_token_audience are mutually exclusive');
  refuseContradictoryRotation(settings);
  return { settings: { ...settings, tenant_id, resource }, hasSecret };
}

/** One sentence for each setting that does not do what it seems to. */
export function configWarnings({ settings, hasSecret }: StoredConfig): string[] {
  const { rotation_period, rotation_schedule, root_password_ttl } = settings;
  const sentences = [];
  if ((rotation_period > 0 || rotation_schedule !== '') && !hasSecret)
    sentences.push('rotation_period and rotation_schedule have no effect without client_secret');
  if (rotation_period >= root_password_ttl)
    sentences.push(
      'rotation_period: is not shorter than root_password_ttl, so that secrets expire before they are rotated',
    );
  return sentences;
}

function refuseContradictoryRotation(
  settings: Pick<ConfigSettings, 'rotation_period' | 'rotation_schedule' | 'rotation_window'>,
): void {
  if (settings.rotation_period > 0 && settings.rotation_schedule !== '')
    throw invalid('rotation_period and rotation_schedule are mutually exclusive');
  if (settings.rotation_window > 0 && settings.rotation_schedule === '')
    throw invalid('rotation_window requires rotation_schedule');
  if (settings.rotation_schedule !== '' && !isSchedule(settings.rotation_schedule))
    throw invalid('rotation_schedule: must be a cron expression with five fields, such as 0 3 1 * *');
}

/** The fields that have another value than this one. */
const without = <Absent extends null | undefined, Fields extends object>(absent: Absent, fields: Fields) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== absent)) as {
    [Field in keyof Fields]?: Exclude<Fields[Field], Absent | undefined>;
  };

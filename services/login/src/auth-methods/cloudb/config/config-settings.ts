import { invalid, readStored, storedSettings } from '@secrets/domain';
import { z } from 'zod';
import type { Environment } from '../directory/environments.ts';
import { isSchedule } from '../rotation/cron.ts';
import { configDeclaration, environmentNamed, shownDelay } from './config-fields.ts';

/** The forms of a configuration, derived from its fields. */
export const configFields = storedSettings(configDeclaration);

/** The name of a field that is stored encrypted and never shown. */
export type SecretField = (typeof configFields.secretNames)[number];

/** The body of `auth/<mount>/config`. Omitted fields keep their values. */
export const ConfigBody = configFields.body;
type ConfigBody = z.infer<typeof ConfigBody>;

/** A write or a merge patch, in which null restores the default of a field, or removes the secret. */
export type ConfigPatch = { [Field in keyof ConfigBody]: ConfigBody[Field] | null };

/** The body of a merge patch. */
export const ConfigPatch = z.object(
  Object.fromEntries(Object.entries(ConfigBody.shape).map(([name, field]) => [name, field.nullable()])),
) as unknown as z.ZodType<ConfigPatch>;

/** A mount's configuration as it is stored, without the secret. */
export type ConfigSettings = Omit<ReturnType<typeof configFields.read>, 'environment'> & {
  environment: Environment;
  /** The name of the environment that was given; empty if none was. */
  given_environment?: string;
  given_tenant?: NamedTenant | undefined;
};

/** A domain that was given as `tenant_id`, and the ID of the tenant that had it then. */
export const NamedTenant = z.object({ domain: z.string(), id: z.string() });
export type NamedTenant = z.infer<typeof NamedTenant>;

const object = 'the configuration of this auth mount';
const unshownFields = {
  given_environment: { schema: z.string() },
  given_tenant: { schema: NamedTenant.optional() },
};

/** A configuration in a row. Throws what `readStored` throws. */
export function readConfig(row: object): ConfigSettings {
  const settings = configFields.read(readStored(unshownFields, row, object), object);
  return { ...settings, environment: environmentNamed(settings.environment)! };
}

/** A row of a configuration, whose settings are not parsed, and the secret fields that are set. */
export interface ConfigRow {
  settings: object;
  secrets: readonly SecretField[];
}

/** A configuration, and the secret fields that are set. */
export interface StoredConfig extends ConfigRow {
  settings: ConfigSettings;
}

export const hasClientSecret = ({ secrets }: ConfigRow): boolean => secrets.includes('client_secret');

/**
 * A request merged into what is stored; `tenant` is what its `tenant_id` names, if that is a domain. Throws `invalid` if
 * the result lacks a field or contradicts itself, and what `readStored` throws for a field that the request does not
 * replace.
 */
export function mergedConfig(
  stored: ConfigRow | undefined,
  { environment, ...fields }: ConfigPatch,
  tenant?: NamedTenant,
): StoredConfig {
  const named = environment === undefined && stored !== undefined ? {} : namedEnvironment(environment ?? '');
  const change = { ...fields, ...(tenant && { tenant_id: tenant.id }), environment: named.environment };
  const settings = readConfig({
    ...configFields.merged(stored?.settings, change, object),
    ...named,
    ...(fields.tenant_id !== undefined && { given_tenant: tenant }),
  });
  const secrets = configFields.secretNames.filter((field) =>
    fields[field] === undefined ? stored?.secrets.includes(field) : Boolean(fields[field]),
  );
  if (hasClientSecret({ settings, secrets }) && settings.identity_token_audience !== '')
    throw invalid('client_secret and identity_token_audience are mutually exclusive');
  refuseContradictoryRotation(settings);
  return { settings, secrets };
}

const namedEnvironment = (
  given: string,
): Partial<Pick<ConfigSettings, 'environment' | 'given_environment'>> => ({
  environment: environmentNamed(given) ?? 'public',
  given_environment: given,
});

/**
 * A configuration as it is shown: with environment and tenant by the names that were given, unless an older version has
 * changed them since.
 */
export function presentConfig(settings: ConfigSettings) {
  const { given_environment: given, given_tenant, tenant_id } = settings;
  const isCurrent = given !== undefined && environmentNamed(given) === settings.environment;
  return {
    ...configFields.shown(settings),
    ...(given_tenant?.id === tenant_id && { tenant_id: given_tenant.domain, resolved_tenant_id: tenant_id }),
    environment: isCurrent ? given : settings.environment,
    retry_delay: shownDelay(settings.retry_delay),
    max_retry_delay: shownDelay(settings.max_retry_delay),
  };
}

/** One sentence for each setting that does not do what it seems to. */
export function configWarnings(config: StoredConfig): string[] {
  const { rotation_period, rotation_schedule, root_password_ttl } = config.settings;
  const sentences = [];
  if ((rotation_period > 0 || rotation_schedule !== '') && !hasClientSecret(config))
    sentences.push('rotation_period and rotation_schedule have no effect without client_secret');
  if (rotation_period >= root_password_ttl)
    sentences.push(
      'rotation_period: is not shorter than root_password_ttl, so that secrets expire before they are rotated',
    );
  return sentences;
}

const windowRefused = (period: number): string =>
  period > 0
    ? 'rotation_window does not apply to period: use rotation_schedule'
    : 'cannot use rotation_window without rotation_schedule';

function refuseContradictoryRotation(
  settings: Pick<ConfigSettings, 'rotation_period' | 'rotation_schedule' | 'rotation_window'>,
): void {
  if (settings.rotation_period > 0 && settings.rotation_schedule !== '')
    throw invalid('rotation_period and rotation_schedule are mutually exclusive');
  if (settings.rotation_window > 0 && settings.rotation_schedule === '')
    throw invalid(windowRefused(settings.rotation_period)); // as Vault says it (hashicorp/vault, sdk/helper/automatedrotationutil)
  if (settings.rotation_schedule !== '' && !isSchedule(settings.rotation_schedule))
    throw invalid('rotation_schedule: must be a cron expression with five fields, such as 0 3 1 * *');
}

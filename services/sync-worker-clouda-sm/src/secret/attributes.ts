import { cloudASm, type PushedName } from '@secrets/destinations';
import type { Described } from '../api/schema.ts';
import type { AttributeName } from '../api/secrets-manager-api.ts';
import type { CloudASettings } from '../settings.ts';
import { isKeyShown, mustChange, type Present } from './keys.ts';
import type { Store } from './store.ts';

/** The settings that are an attribute of the secret; the others that are pushed have calls of their own. */
type Setting = Exclude<PushedName<typeof cloudASm.fields>, 'custom_tags' | 'replica_regions'>;

/** A setting that CreateSecret and UpdateSecret take as a parameter, and that DescribeSecret shows under the same name. */
interface Attribute {
  parameter: AttributeName & keyof Described;
  /** Whether a description shows what is wanted; by default, if it is the same text. */
  isShown?(wanted: string, shown: string | undefined): boolean;
}

const attributes: Record<Setting, Attribute> = {
  kms_key_id: { parameter: 'KmsKeyId', isShown: isKeyShown },
};

const declared = Object.entries(attributes) as [Setting, Attribute][];

/** Attributes by the name of their setting. An empty one is the default of the provider. */
export type Attributes = Record<Setting, string>;

/** Those of the destination, or of other settings. */
export const attributesIn = (settings: Pick<CloudASettings, Setting>): Attributes =>
  Object.fromEntries(declared.map(([name]) => [name, settings[name]])) as Attributes;

/** Those that a put has set which knew fewer of them. */
export const allAttributes = (known: Readonly<Record<string, string>>): Attributes =>
  attributesIn({ ...cloudASm.defaults, ...known });

/** The parameters of a secret that is created. */
export const creationAttributes = (settings: CloudASettings): Partial<Record<AttributeName, string>> =>
  Object.fromEntries(
    declared.flatMap(([name, { parameter }]) =>
      settings[name] === '' ? [] : [[parameter, settings[name]] as const],
    ),
  );

/**
 * Gives the secret the attributes of the destination.
 * @param found undefined if the secret was not looked at
 * @param ours those that the last put has set
 */
export async function reconcileAttributes(
  { api, settings, signal }: Store,
  arn: string,
  { found, ours }: { found?: Described; ours: Attributes | undefined },
): Promise<void> {
  const changed = declared.filter(([name, { parameter, isShown }]) => {
    const present: Present = { shown: found ? found[parameter] : ours?.[name], ours: ours?.[name] };
    return mustChange(settings[name], present, isShown);
  });
  if (changed.length === 0) return;
  const wanted = changed.map(([name, { parameter }]) => [parameter, settings[name]] as const);
  await api.update(arn, Object.fromEntries(wanted), signal);
}

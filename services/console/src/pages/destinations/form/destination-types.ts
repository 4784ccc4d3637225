import generated from '../../../api/generated/destination-types.json';

/** A field of a destination type, generated from its description (scripts/console/describe-destinations.ts). */
export interface FormField {
  name: string;
  help: string;
  /** Numbers and durations are a `text`, too: the service parses them. */
  kind: 'text' | 'secret' | 'choice' | 'choices' | 'list' | 'map' | 'flag';
  group: 'connection' | 'identity' | 'content' | 'network';
  choices: readonly string[];
  isRequired: boolean;
  isImmutable: boolean;
  isPushed: boolean;
  initial: unknown;
}

/** The fields of every destination type, in the order of its description. */
export const destinationTypes: Readonly<Record<string, readonly FormField[]>> = generated as Record<
  string,
  FormField[]
>;

/** The products that the types are for. */
export const typeNames: Readonly<Record<string, string>> = {
  'cloudA-sm': 'AWS Secrets Manager',
  'cloudB-kv': 'Azure Key Vault',
  'cloudC-sm': 'Google Secret Manager',
  codehost: 'GitHub Actions secrets',
  'webhost-project': 'Vercel project',
};

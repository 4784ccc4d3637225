/** The variables of name templates (docs/conventions/sync.md#names). */
const nameVariables = [
  'DestinationType',
  'DestinationName',
  'NamespacePath',
  'NamespaceBaseName',
  'NamespaceID',
  'MountPath',
  'MountBaseName',
  'MountAccessor',
  'SecretPath',
  'SecretBaseName',
  'SecretKey',
] as const;

type NameVariable = (typeof nameVariables)[number];

/** A variable of any template; the external name only in templates of import paths. */
export type TemplateVariable = NameVariable | 'ExternalName';

/** The values for one external secret. `SecretKey` is set only at secret-key granularity. */
export type NameVariables = Readonly<
  Record<Exclude<NameVariable, 'SecretKey'>, string> & { SecretKey?: string }
>;

export const isNameVariable = (name: string): name is NameVariable =>
  (nameVariables as readonly string[]).includes(name);

import type { DestinationDescription } from '../description.ts';
import { externalName } from './external-name.ts';
import type { NameVariables } from './template/name-variables.ts';

/** Returns a function that names an external secret of a destination of this type, from typical variables and the given ones. */
export const namesOf =
  (description: DestinationDescription) =>
  (over: Partial<NameVariables> = {}, template?: string, prefix = 'secrets'): string =>
    externalName(description, {
      template,
      prefix,
      variables: {
        DestinationType: description.type,
        DestinationName: 'main',
        NamespacePath: 'root',
        NamespaceBaseName: 'root',
        NamespaceID: 'root',
        MountPath: 'kv',
        MountBaseName: 'kv',
        MountAccessor: 'kv_1234',
        SecretPath: 'my-secret',
        SecretBaseName: 'my-secret',
        ...over,
      },
    });

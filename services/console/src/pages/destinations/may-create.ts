import { usePermissions } from '../../session/permissions.ts';
import { destinationPath } from './destination-api.ts';
import { destinationTypes } from './form/destination-types.ts';

/** A name to ask about: what a policy grants on all names of a type, it grants on this one. */
const anyName = 'any';
const paths = Object.keys(destinationTypes).map((type) => destinationPath({ type, name: anyName }));

/** Whether the token may create destinations of some type. */
export function useMayCreate(): boolean {
  const { may } = usePermissions(paths);
  return paths.some((path) => may('create', path));
}

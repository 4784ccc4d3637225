import type { Secret } from './store/secret.ts';

/** The project and, of a regional secret, the location, as the sandbox shows them. */
export const regionOf = ({ location, project }: Secret): string =>
  location === undefined ? project : `${project}/${location}`;

import type { DestinationDescription } from '../src/description.ts';
import { presentDestination } from '../src/request/present-destination.ts';

type View = Parameters<typeof presentDestination>[1];

/** A destination with the fields of a request, as a read of it shows it. */
export const shownOf = (
  description: DestinationDescription,
  { settings, given, credentials }: Pick<View, 'settings' | 'given'> & { credentials: object },
) =>
  presentDestination(description, {
    name: 'main',
    settings,
    given,
    credentialNames: Object.keys(credentials),
    prefix: 'secrets',
  });

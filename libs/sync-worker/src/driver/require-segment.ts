import { Fault, urlSegment } from '@secrets/domain';

/**
 * Encodes the value of a setting, or an ID of the provider, as one segment of a URL. Throws `Fault` `rejected`, which names the
 * field, if it would lead to another path.
 */
export function requireSegment(field: string, text: string): string {
  const segment = urlSegment(text);
  if (segment === undefined) throw new Fault('rejected', `${field}: must not be empty, . or ..`);
  return segment;
}

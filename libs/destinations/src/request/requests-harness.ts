import { expect } from '@jest/globals';
import { Problem } from '@secrets/domain';
import type { DestinationDescription } from '../description.ts';
import type { DestinationContent } from './destination-content.ts';
import { parseDestination } from './parse-destination.ts';

/**
 * Returns how tests make requests for destinations of a type: `parse` those that are accepted, `refusal` the others.
 * Updates are patches by default.
 */
export function requestsOf(description: DestinationDescription) {
  const parse = (body: object, existing?: DestinationContent, isPatch = true) =>
    parseDestination(description, { name: 'main', body: { ...body }, prefix: 'secrets', existing, isPatch });

  /** Returns what the refusal says. Fails the test if the request is accepted. */
  const refusal = (body: object, existing?: DestinationContent, isPatch = true): string => {
    try {
      parse(body, existing, isPatch);
    } catch (error) {
      expect(error).toBeInstanceOf(Problem);
      expect((error as Problem).kind).toBe('invalid');
      return (error as Problem).sentences.join('; ');
    }
    throw new Error('the request was accepted');
  };
  return { parse, refusal };
}

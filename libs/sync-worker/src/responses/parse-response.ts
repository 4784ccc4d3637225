import { Fault } from '@secrets/domain';
import type { z } from 'zod';

/** Parses a response of the provider. Throws `Fault` `unavailable` if it lacks what the schema requires. */
export function parseResponse<Schema extends z.ZodType>(
  operation: string,
  schema: Schema,
  response: unknown,
): z.output<Schema> {
  const parsed = schema.safeParse(response);
  if (parsed.success) return parsed.data;
  throw malformedResponse(operation);
}

/** The fault of a response that is not an error and cannot be used either: a redirect, or not what the API specifies. */
export const malformedResponse = (operation: string, status = 200): Fault =>
  new Fault(
    'unavailable',
    status >= 300 && status < 400
      ? `${operation}: the service responded with a redirect, which is not followed`
      : `${operation}: the response cannot be parsed`,
  );

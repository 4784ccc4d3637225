import { withoutControl } from '@secrets/domain';
import { z } from 'zod';

/** The fields of a login that every method has. */
export const loginFields = {
  role: z
    .string()
    .min(1, 'must not be empty')
    .max(256)
    .regex(withoutControl, 'must not contain control characters'),
  /** Files that contain it end in a new line. */
  jwt: z
    .string()
    .trim()
    .min(1, 'must not be empty')
    .meta({ pattern: '^[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+$' }),
};

import { z } from 'zod';
import { loginFields } from '../../roles/login-fields.ts';

/** The body of a login. Without a role, that of the configuration's `default_role` counts. */
export const JwtLoginRequest = z.object({
  role: z.union([z.literal(''), loginFields.role]).optional(),
  jwt: loginFields.jwt,
});
export type JwtLoginRequest = z.infer<typeof JwtLoginRequest>;

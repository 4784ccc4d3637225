import { z } from 'zod';
import { LoginRequest } from '../login/login-request.ts';

/** The body of `auth/<mount>/diagnose`: a login, and optionally the address from which it would come. */
export const DiagnosisRequest = LoginRequest.extend({
  remote_address: z.union([z.ipv4(), z.ipv6()], { error: 'must be an IP address' }).optional(),
});
export type DiagnosisRequest = z.infer<typeof DiagnosisRequest>;

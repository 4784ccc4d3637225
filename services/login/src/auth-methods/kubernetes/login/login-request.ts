import { z } from 'zod';
import { loginFields } from '../../roles/login-fields.ts';

/** The body of a login. */
export const KubernetesLoginRequest = z.object(loginFields);
export type KubernetesLoginRequest = z.infer<typeof KubernetesLoginRequest>;

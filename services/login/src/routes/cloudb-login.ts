import { Problem } from '@secrets/domain';
import { type Endpoint, endpoint } from '@secrets/http';
import { z } from 'zod';
import { login } from '../cloudb/login.ts';
import { LoginRequest } from '../cloudb/login-request.ts';
import type { Context } from '../context.ts';
import { presentAuth } from '../tokens/present-auth.ts';

/** Counts logins: `issued`, or the kind of problem. */
export interface LoginOutcomes {
  inc(labels: { outcome: string }): void;
}

/** `auth/<mount>/login` (docs/conventions.md#33-login-request); needs no token. */
export const loginEndpoint = (context: Context, outcomes: LoginOutcomes): Endpoint =>
  endpoint({
    method: 'post',
    path: '/auth/*mount/login',
    summary: "Log in with a token of the cloud's identity directory",
    params: z.object({ mount: z.string() }),
    body: LoginRequest,
    handle: async ({ params: { mount }, body, caller }) => {
      const at = { namespaceId: caller.namespace.id, mount, remoteAddress: caller.remoteAddress };
      try {
        const issued = await login(context, at, body);
        outcomes.inc({ outcome: 'issued' });
        return { auth: presentAuth(issued) };
      } catch (error) {
        outcomes.inc({ outcome: error instanceof Problem ? error.kind : 'failed' });
        throw error;
      }
    },
  });

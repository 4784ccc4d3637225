import type { Api } from '../api/client.ts';
import { ApiProblem } from '../api/problem.ts';

/** Whether the service accepts the token, in the namespace of the client: every valid token may read what it is granted. */
export async function isTokenValid(api: Api): Promise<boolean> {
  try {
    await api.GET('/v1/sys/internal/ui/resultant-acl');
    return true;
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 403) return false;
    throw error;
  }
}

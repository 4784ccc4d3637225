import { createApi } from '../../api/client.ts';
import { callbackPath } from './begin-sign-in.ts';
import { ProviderRefusal, type SignInFailure } from './explain-failure.ts';
import { type Attempt, takeAttempt } from './sign-in-store.ts';

/** A sign-in that has ended. */
export type Completed =
  | { attempt: Attempt; token: string }
  | { attempt: Attempt | undefined; failure: SignInFailure };

/** Whether the provider has just sent the user back. */
export const isCallback = (): boolean => window.location.pathname === callbackPath;

/**
 * Exchanges the response of the provider for a token, and shows the address where the user was. The response is used once, and
 * only in the tab in which the sign-in was begun.
 */
export async function completeSignIn(): Promise<Completed> {
  const response = new URLSearchParams(window.location.search);
  const attempt = takeAttempt();
  const isOurs = attempt !== undefined && response.get('state') === attempt.state;
  window.history.replaceState(null, '', isOurs ? attempt.returnTo : '/ui/');
  if (!isOurs) return { attempt: undefined, failure: new ProviderRefusal('unknown_attempt') };
  try {
    return { attempt, token: await tokenFor(attempt, response) };
  } catch (failure) {
    return { attempt, failure };
  }
}

async function tokenFor(
  { mount, namespace, nonce, state }: Attempt,
  response: URLSearchParams,
): Promise<string> {
  const error = response.get('error');
  if (error !== null) throw new ProviderRefusal(error);
  const iss = response.get('iss');
  const { data } = await createApi({ namespace }).POST('/v1/auth/{mount}/oidc/callback', {
    params: { path: { mount } },
    body: { state, client_nonce: nonce, code: response.get('code') ?? '', ...(iss !== null && { iss }) },
  });
  const token = data?.auth?.client_token;
  if (typeof token !== 'string') throw new Error('the response has no token');
  return token;
}

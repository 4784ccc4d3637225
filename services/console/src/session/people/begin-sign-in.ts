import { createApi, dataOf } from '../../api/client.ts';
import { Refusal } from '../../api/problem.ts';
import { type ProviderMount, storeAttempt } from './sign-in-store.ts';

/** The page to which providers send users back. It is registered at each provider (docs/operations/login.md). */
export const callbackPath = '/ui/signed-in';

const nonceBytes = 32;
const randomNonce = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(nonceBytes)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');

/** A page that the browser has kept would wait for ever if the user goes back to it. */
const reloadIfKept = ({ persisted }: PageTransitionEvent): void => {
  if (persisted) window.location.reload();
};

/** Where the user is, as path and query. */
export const currentPage = (): string => window.location.pathname + window.location.search;

/**
 * Leaves the console for the provider. Silently, the provider is asked to show nothing, and to refuse users who have no session
 * there. Rejects with an `ApiProblem` if the service refuses to begin.
 */
export async function beginSignIn(
  provider: ProviderMount,
  { returnTo, isSilent }: { returnTo: string; isSilent: boolean },
): Promise<void> {
  const nonce = randomNonce();
  const { mount, namespace } = provider;
  const redirect_uri = window.location.origin + callbackPath;
  const answer = await createApi({ namespace }).POST('/v1/auth/{mount}/oidc/auth_url', {
    params: { path: { mount } },
    body: { redirect_uri, client_nonce: nonce },
  });
  const url = new URL(dataOf(answer).auth_url as string);
  if (!['http:', 'https:'].includes(url.protocol))
    throw new Refusal('The address of the provider is not one that a browser may open.');
  if (isSilent) url.searchParams.set('prompt', 'none');
  const state = url.searchParams.get('state') ?? '';
  storeAttempt({ ...provider, nonce, state, returnTo, isSilent });
  window.addEventListener('pageshow', reloadIfKept);
  window.location.assign(url);
}

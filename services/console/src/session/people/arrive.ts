import { readStoredSession } from '../stored-session.ts';
import { beginSignIn, currentPage } from './begin-sign-in.ts';
import { completeSignIn, isCallback } from './complete-sign-in.ts';
import { ProviderRefusal, type SignInFailure } from './explain-failure.ts';
import {
  forgetProvider,
  type ProviderMount,
  rememberedProvider,
  rememberProvider,
  takeAttempt,
} from './sign-in-store.ts';

/** The outcome of a sign-in through a provider. */
export type Arrival =
  | { token: string; provider: ProviderMount }
  | { failure: SignInFailure; namespace: string };

/** Whether a provider has sent the user back, or is to be asked again whether the user has a session there. */
export const isArriving = (): boolean =>
  isCallback() || (readStoredSession() === undefined && rememberedProvider() !== undefined);

let arrival: Promise<Arrival> | undefined;

/** Completes a sign-in, or asks the provider again after a reload. Happens once for each load of the application. */
export const arrive = (): Promise<Arrival> => {
  arrival ??= isCallback() ? complete() : returnAfterReload(rememberedProvider() as ProviderMount);
  return arrival;
};

async function complete(): Promise<Arrival> {
  const completed = await completeSignIn();
  if ('token' in completed) {
    rememberProvider(completed.attempt);
    return { token: completed.token, provider: completed.attempt };
  }
  forgetProvider();
  return { failure: completed.failure, namespace: completed.attempt?.namespace ?? '' };
}

/** Does not ask a provider again that has not sent the user back: it shows an error of its own, or does not respond. */
async function returnAfterReload(provider: ProviderMount): Promise<Arrival> {
  if (takeAttempt() === undefined) return returnSilently(provider);
  forgetProvider();
  return { failure: new ProviderRefusal('no_return'), namespace: provider.namespace };
}

/** Asks the provider without showing anything. Resolves only if that is not possible: otherwise, the browser leaves. */
export async function returnSilently(provider: ProviderMount): Promise<Arrival> {
  try {
    await beginSignIn(provider, { returnTo: currentPage(), isSilent: true });
  } catch (failure) {
    return { failure, namespace: provider.namespace };
  }
  return new Promise(() => undefined);
}

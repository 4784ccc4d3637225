import { QueryClientProvider } from '@tanstack/react-query';
import { type ReactNode, useEffect, useMemo, useState } from 'react';
import { createApi } from '../api/client.ts';
import { reloadWith, takenSession } from '../upgrade/handover.ts';
import { type Arrival, arrive, isArriving, returnSilently } from './people/arrive.ts';
import { forgetProvider } from './people/sign-in-store.ts';
import { createQueryClient } from './query-client.ts';
import { type Session, SessionContext, type SignedIn } from './session.ts';
import { SignInPage, type WhySignedOut } from './sign-in-page.tsx';
import { endSession } from './sign-out.ts';
import { forgetStoredSession, readStoredSession, storeSession } from './stored-session.ts';
import { forgetUnsavedInput, mayLeave } from './unsaved-input.ts';

type State =
  | { kind: 'arriving' }
  | { kind: 'signed in'; user: SignedIn }
  | ({ kind: 'signed out' } & WhySignedOut);

const initialState = (): State => {
  const user = readStoredSession() ?? takenSession;
  if (user !== undefined) return { kind: 'signed in', user };
  return isArriving() ? { kind: 'arriving' } : { kind: 'signed out' };
};

const afterArrival = (arrival: Arrival): State => {
  if ('failure' in arrival) return { kind: 'signed out', ...arrival };
  const { token, provider } = arrival;
  return { kind: 'signed in', user: { token, namespace: provider.namespace, isIssued: true, provider } };
};

/** The provider is not asked again for a token that was refused at once: that would not end. */
const minSessionMs = 30_000;

/**
 * Shows the sign-in page, or its children to a signed-in user. The token is in memory, and nowhere else unless the user
 * asks for it.
 */
export function SessionProvider({ children }: { children: ReactNode }) {
  const [state, setState] = useState(initialState);
  useEffect(() => {
    if (takenSession === undefined && isArriving())
      void arrive().then((arrival) => setState(afterArrival(arrival)));
  }, []);

  const signIn = (user: SignedIn, keep: boolean) => {
    if (keep) storeSession(user);
    setState({ kind: 'signed in', user });
  };
  const signOut = async (user: SignedIn) => {
    forgetStoredSession();
    forgetProvider();
    setState({ kind: 'signed out', ...(await endSession(user)) });
  };
  const leave = (user: SignedIn, signedInMs: number) => {
    forgetStoredSession();
    if (user.provider !== undefined && signedInMs >= minSessionMs) {
      setState({ kind: 'arriving' });
      void returnSilently(user.provider).then((arrival) => setState(afterArrival(arrival)));
      return;
    }
    forgetProvider();
    setState({ kind: 'signed out', notice: 'The token has expired, was revoked, or is not valid here.' });
  };

  if (state.kind === 'arriving') return <Arriving />;
  if (state.kind === 'signed out') return <SignInPage why={state} onSignIn={signIn} />;
  const { user } = state;
  return (
    <SignedInUser
      key={`${user.token} ${user.namespace}`}
      user={user}
      onSignOut={() => void signOut(user)}
      onInvalidToken={(signedInMs) => leave(user, signedInMs)}
      onChange={(changed) => {
        if (readStoredSession() !== undefined) storeSession(changed);
        setState({ kind: 'signed in', user: changed });
      }}
    >
      {children}
    </SignedInUser>
  );
}

/** Shown until the provider or the service has responded. */
const Arriving = () => (
  <main className="sign-in card">
    <title>Sign in · Secrets</title>
    <h1>Signing in</h1>
    <p role="status">Waiting for the provider.</p>
  </main>
);

interface SignedInUserProps {
  user: SignedIn;
  onSignOut(): void;
  onInvalidToken(signedInMs: number): void;
  onChange(user: SignedIn): void;
  children: ReactNode;
}

/** Has a cache of its own, so that nothing that one token or namespace could read is shown to another. */
function SignedInUser({ user, onSignOut, onInvalidToken, onChange, children }: SignedInUserProps) {
  const { token, namespace } = user;
  const api = useMemo(() => createApi({ token, namespace }), [token, namespace]);
  const [queryClient] = useState(() => {
    const since = performance.now();
    return createQueryClient(api, () => onInvalidToken(performance.now() - since));
  });
  const session: Session = {
    token,
    namespace,
    api,
    reload: () => {
      if (!mayLeave()) return;
      forgetUnsavedInput();
      reloadWith(user);
    },
    signOut: () => mayLeave() && onSignOut(),
    changeNamespace: (changed) => mayLeave() && onChange({ ...user, namespace: changed }),
  };
  return (
    <SessionContext value={session}>
      <QueryClientProvider client={queryClient}>{children}</QueryClientProvider>
    </SessionContext>
  );
}

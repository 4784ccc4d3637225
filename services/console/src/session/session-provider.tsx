import { QueryClientProvider } from '@tanstack/react-query';
import { type ReactNode, useMemo, useState } from 'react';
import { type Credentials, createApi } from '../api/client.ts';
import { createQueryClient } from './query-client.ts';
import { type Session, SessionContext } from './session.ts';
import { SignInPage } from './sign-in-page.tsx';
import { forgetStoredSession, readStoredSession, storeSession } from './stored-session.ts';

/**
 * Shows the sign-in page, or its children to a signed-in user. The token is in memory, and nowhere else unless the user
 * asks for it.
 */
export function SessionProvider({ children }: { children: ReactNode }) {
  const [credentials, setCredentials] = useState(readStoredSession);
  const [notice, setNotice] = useState<string>();

  const signIn = (given: Credentials, keep: boolean) => {
    if (keep) storeSession(given);
    setNotice(undefined);
    setCredentials(given);
  };
  const signOut = (reason?: string) => {
    forgetStoredSession();
    setNotice(reason);
    setCredentials(undefined);
  };

  if (credentials === undefined) return <SignInPage notice={notice} onSignIn={signIn} />;
  return (
    <SignedIn
      key={`${credentials.token} ${credentials.namespace}`}
      credentials={credentials}
      onSignOut={signOut}
      onChange={(changed) => {
        if (readStoredSession() !== undefined) storeSession(changed);
        setCredentials(changed);
      }}
    >
      {children}
    </SignedIn>
  );
}

interface SignedInProps {
  credentials: Credentials;
  onSignOut(reason?: string): void;
  onChange(credentials: Credentials): void;
  children: ReactNode;
}

/** Has a cache of its own, so that nothing that one token or namespace could read is shown to another. */
function SignedIn({ credentials, onSignOut, onChange, children }: SignedInProps) {
  const { token, namespace } = credentials;
  const api = useMemo(() => createApi({ token, namespace }), [token, namespace]);
  const [queryClient] = useState(() =>
    createQueryClient(api, () => onSignOut('The token has expired, was revoked, or is not valid here.')),
  );
  const session: Session = {
    token,
    namespace,
    api,
    signOut: () => onSignOut(),
    changeNamespace: (changed) => onChange({ token, namespace: changed }),
  };
  return (
    <SessionContext value={session}>
      <QueryClientProvider client={queryClient}>{children}</QueryClientProvider>
    </SessionContext>
  );
}

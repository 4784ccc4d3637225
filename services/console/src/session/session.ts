import { createContext, useContext } from 'react';
import type { Api, Credentials } from '../api/client.ts';
import type { ProviderMount } from './people/sign-in-store.ts';

/** Who has signed in, and how. */
export interface SignedIn extends Credentials {
  /** Whether the console has requested the token for this session. Signing out revokes it. */
  isIssued: boolean;
  /** Where the user has signed in with a browser. */
  provider?: ProviderMount;
}

/** The signed-in user. */
export interface Session extends Credentials {
  api: Api;
  signOut(): void;
  /** Loads the console again, such as another version, without signing out. */
  reload(): void;
  /** Continues in another namespace with the same token; '' is the root namespace. */
  changeNamespace(namespace: string): void;
}

export const SessionContext = createContext<Session | undefined>(undefined);

/** Returns the session. Only components below `SessionProvider` may call it. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === undefined) throw new Error('there is no session');
  return session;
}

/** Returns the client of the API, with the credentials of the session. */
export const useApi = (): Api => useSession().api;

import { createContext, useContext } from 'react';
import type { Api, Credentials } from '../api/client.ts';

/** The signed-in user. */
export interface Session extends Credentials {
  api: Api;
  signOut(): void;
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

import type { Credentials } from '../api/client.ts';

const key = 'session';

/** Returns the session that the user asked to keep for this tab, if there is one. */
export function readStoredSession(): Credentials | undefined {
  try {
    const stored: unknown = JSON.parse(window.sessionStorage.getItem(key) ?? 'null');
    return isCredentials(stored) ? stored : undefined;
  } catch {
    return undefined;
  }
}

const isCredentials = (stored: unknown): stored is Credentials =>
  typeof stored === 'object' &&
  stored !== null &&
  'token' in stored &&
  typeof stored.token === 'string' &&
  'namespace' in stored &&
  typeof stored.namespace === 'string';

/** Keeps the session until the tab is closed. Its token is then readable by what can read the browser's profile. */
export const storeSession = (session: Credentials): void =>
  window.sessionStorage.setItem(key, JSON.stringify(session));

export const forgetStoredSession = (): void => window.sessionStorage.removeItem(key);

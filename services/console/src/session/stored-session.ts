import type { SignedIn } from './session.ts';

const key = 'session';

/** Returns the session that the user asked to keep for this tab, if there is one. */
export function readStoredSession(): SignedIn | undefined {
  try {
    const stored: unknown = JSON.parse(window.sessionStorage.getItem(key) ?? 'null');
    return isSession(stored) ? { ...stored, isIssued: stored.isIssued === true } : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a parsed text is a session. */
export const isSession = (stored: unknown): stored is SignedIn =>
  typeof stored === 'object' &&
  stored !== null &&
  'token' in stored &&
  typeof stored.token === 'string' &&
  'namespace' in stored &&
  typeof stored.namespace === 'string';

/** Keeps the session until the tab is closed. Its token is then readable by what can read the browser's profile. */
export const storeSession = (session: SignedIn): void =>
  window.sessionStorage.setItem(key, JSON.stringify(session));

export const forgetStoredSession = (): void => window.sessionStorage.removeItem(key);

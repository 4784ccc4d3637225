import type { SignedIn } from '../session/session.ts';
import { isSession } from '../session/stored-session.ts';

const key = 'handover';

/** A reload that takes longer is one that did not end, such as a crash. */
const maxAgeMs = 10_000;

/**
 * Reloads the page, and hands the session to it (docs/adr/0024-console.md). The token is written to the session storage
 * of this tab when the page is already going away, and removed by the next page before it does anything else.
 */
export function reloadWith(user: SignedIn): void {
  const store = () =>
    window.sessionStorage.setItem(key, JSON.stringify({ user, writtenAtMs: Date.now() } satisfies Handover));
  window.addEventListener('pagehide', store, { once: true });
  window.location.reload();
}

interface Handover {
  user: SignedIn;
  writtenAtMs: number;
}

/** Removes what was handed over, and returns it if this page is the reload for which it was written. */
function takeHandover(): SignedIn | undefined {
  const text = window.sessionStorage.getItem(key);
  window.sessionStorage.removeItem(key);
  const [navigation] = window.performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  return navigation?.type === 'reload' ? handedOver(text, Date.now()) : undefined;
}

/** Returns the session of a handover that is not too old; undefined for any other text. */
function handedOver(text: string | null, nowMs: number): SignedIn | undefined {
  try {
    const { user, writtenAtMs } = JSON.parse(text ?? '{}') as Partial<Handover>;
    const ageMs = nowMs - Number(writtenAtMs);
    return isSession(user) && ageMs >= 0 && ageMs <= maxAgeMs ? user : undefined;
  } catch {
    return undefined;
  }
}

/** The session that the page before has handed over, taken once, when the application starts. */
export const takenSession: SignedIn | undefined = takeHandover();

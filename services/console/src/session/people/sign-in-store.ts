/** A mount at whose provider people sign in. */
export interface ProviderMount {
  /** Without a trailing slash. */
  mount: string;
  namespace: string;
  /** The name of its button. */
  label: string;
}

/** A sign-in that was begun in this tab, until the provider sends the user back. */
export interface Attempt extends ProviderMount {
  /** Known to this tab alone, so that the response of the provider cannot be used elsewhere. */
  nonce: string;
  /** The `state` that the response must have. */
  state: string;
  /** Where the user was, as path and query. */
  returnTo: string;
  /** Whether the provider was asked not to show anything. */
  isSilent: boolean;
}

const attemptKey = 'sign-in';
const providerKey = 'provider';

const read = (key: string): unknown => {
  try {
    return JSON.parse(window.sessionStorage.getItem(key) ?? 'null');
  } catch {
    return null;
  }
};

const hasTexts = (value: unknown, ...names: string[]): boolean =>
  typeof value === 'object' &&
  value !== null &&
  names.every((name) => typeof (value as Record<string, unknown>)[name] === 'string');

const mountFields = ['mount', 'namespace', 'label'];

export const storeAttempt = (attempt: Attempt): void =>
  window.sessionStorage.setItem(attemptKey, JSON.stringify(attempt));

/** Returns the attempt of this tab, once. */
export function takeAttempt(): Attempt | undefined {
  const stored = read(attemptKey);
  window.sessionStorage.removeItem(attemptKey);
  return hasTexts(stored, ...mountFields, 'nonce', 'state', 'returnTo') ? (stored as Attempt) : undefined;
}

/** Remembers for this tab where the user has signed in, so that a reload asks there again. No token is stored. */
export const rememberProvider = ({ mount, namespace, label }: ProviderMount): void =>
  window.sessionStorage.setItem(providerKey, JSON.stringify({ mount, namespace, label }));

export function rememberedProvider(): ProviderMount | undefined {
  const stored = read(providerKey);
  return hasTexts(stored, ...mountFields) ? (stored as ProviderMount) : undefined;
}

export const forgetProvider = (): void => window.sessionStorage.removeItem(providerKey);

const loopback = /^(?:localhost|127\.0\.0\.1|\[::1\])$/;

/**
 * Whether keys may be fetched from a URL: over TLS, or from this machine. Without TLS, whoever is in between could issue tokens
 * for everybody.
 */
export function isTrustedUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || url.username !== '' || url.password !== '' || url.hash !== '') return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && loopback.test(url.hostname));
}

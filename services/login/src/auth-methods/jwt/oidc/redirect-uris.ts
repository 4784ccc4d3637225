/** Hosts of a program on the user's own machine, which listens on any port (RFC 8252, section 7.3). */
const loopback = ['localhost', '127.0.0.1', '[::1]'];

/** Whether a role may allow a redirect URI: what is sent there must be encrypted, or stay on the user's own machine. */
export function isRedirect(uri: string): boolean {
  const url = URL.parse(uri);
  if (url === null || uri.length > 2_048 || uri.includes('#') || url.username !== '' || url.password !== '')
    return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && loopback.includes(url.hostname));
}

/**
 * Whether a provider may send the user to a redirect URI: it is one of those that the role allows, to the letter, or one on the
 * user's own machine that differs in nothing but the port.
 */
export const isAllowedRedirect = (uri: string, allowed: readonly string[]): boolean =>
  allowed.includes(uri) || allowed.some((one) => isSameButPort(uri, one));

function isSameButPort(uri: string, allowed: string): boolean {
  const [given, other] = [URL.parse(uri), URL.parse(allowed)];
  if (given === null || other === null || given.href !== uri) return false;
  const isLocal = given.protocol === 'http:' && loopback.includes(given.hostname);
  given.port = other.port;
  return isLocal && given.href === other.href;
}

/**
 * Whether a redirect URI is that of a command-line client, which passes on `state` and `code` alone
 * (openbao/openbao, builtin/credential/jwt/cli.go: `callbackHandler`).
 */
export const isOfCommandLine = (uri: string): boolean => URL.parse(uri)?.pathname === '/oidc/callback';

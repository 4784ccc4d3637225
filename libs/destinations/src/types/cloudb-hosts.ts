/**
 * The provider's clouds, and the host suffix of the vaults in each
 * (https://learn.microsoft.com/azure/key-vault/general/about-keys-secrets-certificates#dns-suffixes-for-object-identifiers).
 */
const suffixes: Readonly<Record<string, string>> = {
  cloud: '.vault.azure.net',
  china: '.vault.azure.cn',
  usgovernment: '.vault.usgovcloudapi.net',
};

/** The allowed values of `cloud`; the first is the public cloud. */
export const clouds = ['cloud', 'china', 'usgovernment'] as const;

/** Returns the URI in one form: lower-case host, no slash at the end. A text that is not a plain URI is returned as it is. */
export function canonicalVaultUri(given: string): string {
  const url = plainUrl(given);
  return url ? `${url.protocol}//${url.host}${url.pathname.replace(/\/+$/, '')}` : given;
}

/** Whether the URI is https on a vault's host of the cloud. */
export function isCloudVault(uri: string, cloud: string): boolean {
  const url = plainUrl(uri);
  const suffix = suffixes[cloud];
  if (url === undefined || suffix === undefined || !url.hostname.endsWith(suffix)) return false;
  const label = url.hostname.slice(0, -suffix.length);
  return url.href === `https://${label}${suffix}/` && /^[a-z0-9-]{3,24}$/.test(label);
}

/**
 * Whether the URI is http or https on a host whose form says that it is not public: no dot, `localhost`, `.internal`,
 * `.local`, or a loopback or private address (RFC 1918, RFC 4193).
 */
export function isPrivateVault(uri: string): boolean {
  const url = plainUrl(uri);
  return url !== undefined && privateHosts.some((form) => form.test(url.hostname));
}

const privateHosts = [
  /^[a-z0-9_-]+$/, // also localhost
  /^[a-z0-9_.-]+\.(internal|local)$/,
  /^(127|10)(\.\d{1,3}){3}$/,
  /^192\.168(\.\d{1,3}){2}$/,
  /^172\.(1[6-9]|2\d|3[01])(\.\d{1,3}){2}$/,
  /^\[(::1|f[cd][0-9a-f]{2}:[0-9a-f:]*)\]$/,
];

/** An http or https URL without credentials, query and fragment; undefined for anything else. */
function plainUrl(given: string): URL | undefined {
  if (!URL.canParse(given)) return undefined;
  const url = new URL(given);
  const isHttp = url.protocol === 'https:' || url.protocol === 'http:';
  return isHttp && url.href === `${url.protocol}//${url.host}${url.pathname}` ? url : undefined;
}

import { createPrivateKey } from 'node:crypto';
import { parsedJson } from '@secrets/domain';
import { z } from 'zod';

/** The fields of a service account's key file that are used (https://cloud.google.com/iam/docs/keys-create-delete). */
const ServiceAccount = z.object({
  type: z.literal('service_account'),
  client_email: z.string().regex(/^[^\s@]{1,128}@[^\s@]{1,255}$/),
  private_key: z.string().refine(isRsaKey),
  private_key_id: z.string().max(256).optional(),
  project_id: z.string().optional(),
  universe_domain: z.literal('googleapis.com').optional(),
});

type ServiceAccount = z.infer<typeof ServiceAccount>;

const expectations: Readonly<Record<keyof ServiceAccount, string>> = {
  type: 'must be service_account',
  client_email: 'must be the address of the service account',
  private_key: 'must be an RSA key in PEM format',
  private_key_id: 'must be a text of at most 256 characters',
  project_id: 'must be a text',
  universe_domain: 'must be googleapis.com',
};

/** Why a kind of credentials is refused. Whoever may write a destination must not make the worker read, run or call anything. */
const refusedTypes: ReadonlyMap<unknown, string> = new Map([
  ['authorized_user', 'authorized_user is the identity of a person and is not accepted'],
  [
    'external_account_authorized_user',
    'external_account_authorized_user is the identity of a person and is not accepted',
  ],
  ['impersonated_service_account', 'impersonated_service_account is not accepted'],
  ['gdch_service_account', 'gdch_service_account is not accepted'],
]);

/** Why a source of external tokens is refused. */
const refusedSources: Readonly<Record<string, string>> = {
  executable: 'runs a program',
  file: 'reads a file',
  certificate: 'reads a file',
  url: 'reads a URL',
  environment_id: "reads the environment's metadata",
};

/** Returns the content of a JSON text of credentials; undefined unless it is an object. */
export const parseCredentials = (text: string): Record<string, unknown> | undefined =>
  z.record(z.string(), z.unknown()).safeParse(parsedJson(text)).data;

/**
 * Returns why a JSON text of credentials is refused, as a clause that follows the name of the field; undefined if it is
 * accepted. The clause contains names of fields, and no part of a value. Hosts of URLs are not checked: see
 * `foreignUrlIn`.
 */
export function whyCredentialsRefused(text: string): string | undefined {
  const content = parseCredentials(text);
  if (content === undefined) return 'must be a JSON object, the content of a key file';
  const reason = whyTypeRefused(content) ?? whyFieldRefused(content);
  return reason ?? whyUrlsRefused(content);
}

/** Returns the service account of credentials that were accepted. Throws if they were not. */
export const parseServiceAccount = (text: string): ServiceAccount =>
  ServiceAccount.parse(parseCredentials(text));

function whyTypeRefused({ type, credential_source: source }: Record<string, unknown>): string | undefined {
  const useServiceAccount = '; use the key of a service account';
  if (type === 'external_account')
    return `external_account ${whySourceRefused(source)}, which is not accepted${useServiceAccount}`;
  const refusal = refusedTypes.get(type);
  return refusal === undefined ? undefined : refusal + useServiceAccount;
}

function whySourceRefused(source: unknown): string {
  const fields = typeof source === 'object' && source !== null ? Object.keys(source) : [];
  const found = Object.keys(refusedSources).find((kind) => fields.includes(kind));
  return found === undefined ? 'has no source of tokens' : (refusedSources[found] ?? '');
}

function whyFieldRefused(content: Record<string, unknown>): string | undefined {
  const parsed = ServiceAccount.safeParse(content);
  if (parsed.success) return undefined;
  const [field] = (parsed.error.issues[0]?.path ?? []) as [keyof ServiceAccount];
  return `${field} ${expectations[field]}`;
}

function whyUrlsRefused(content: unknown): string | undefined {
  const invalid = urlsIn(content).find(({ url }) => url === undefined);
  return invalid === undefined
    ? undefined
    : `${invalid.field} must be an http or https URL without a user name`;
}

/**
 * Returns the name of the first field whose URL points neither to a host of the provider nor to the origin of the
 * operator's endpoint; undefined if there is none. A token would otherwise be requested from, or a signature be sent
 * to, a host of the credentials' choice.
 */
export function foreignUrlIn(text: string, operatorEndpoint: string | undefined): string | undefined {
  const origin = operatorEndpoint === undefined ? undefined : new URL(operatorEndpoint).origin;
  return urlsIn(parseCredentials(text)).find(({ url }) => !isOfProvider(url) && url?.origin !== origin)
    ?.field;
}

const isOfProvider = (url: URL | undefined): boolean =>
  url?.protocol === 'https:' &&
  url.port === '' &&
  (url.hostname === 'accounts.google.com' || /(^|\.)googleapis\.com$/.test(url.hostname));

/** Every text that is a URL, or is in a field for one, at any depth. The URL is undefined if it cannot be used. */
function urlsIn(content: unknown, field = ''): { field: string; url: URL | undefined }[] {
  if (typeof content === 'string')
    return /ur[il]$/i.test(field) || content.includes('://') ? [{ field, url: usableUrl(content) }] : [];
  if (typeof content !== 'object' || content === null) return [];
  return Object.entries(content).flatMap(([name, value]) =>
    urlsIn(value, Array.isArray(content) ? field : name),
  );
}

function usableUrl(text: string): URL | undefined {
  const url = URL.parse(text);
  const isUsable =
    url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
  return isUsable ? url : undefined;
}

function isRsaKey(pem: string): boolean {
  try {
    return createPrivateKey(pem).asymmetricKeyType === 'rsa';
  } catch {
    return false;
  }
}

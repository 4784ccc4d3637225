import type { HttpClient, PipelineRequest, PipelineResponse } from '@azure/core-rest-pipeline';
import { parsedJson } from '@secrets/domain';
import type { Logger } from '@secrets/telemetry';

const mask = '*****';
const maxCharacters = 4_096;
/** Headers and fields that may be shown; everything else is masked, so that a new field cannot leak a secret. */
const shownHeaders =
  /^(accept|content-(type|length)|date|retry-after|user-agent|www-authenticate|x-ms-[\w-]*)$/i;
const shownFields: ReadonlySet<string> = new Set(
  `aliases apiVersions appId clientId client_id client_assertion_type code correlation_id displayName endDateTime error error_codes error_description
  expires_in expires_on grant_type id identity keyId location message namespace orchestrationMode passwordCredentials principalId properties
  resource resourceType resourceTypes scope startDateTime tenantId timestamp token_type trace_id type userAssignedIdentities
  virtualMachineScaleSet`.split(/\s+/),
);
const looksLikeToken = /eyJ[\w-]{5,}\.[\w-]*\.?[\w-]*/g;

/**
 * Logs each request and its response: method, URL, status, duration, headers and the known fields of the bodies. A
 * header or field that is not known to be harmless is masked, as is everything that looks like a token, and the values
 * of `secrets`.
 */
export const loggingClient = (
  inner: HttpClient,
  log: Logger,
  secrets: () => readonly string[],
): HttpClient => ({
  async sendRequest(request): Promise<PipelineResponse> {
    const begun = performance.now();
    const cleaned = (text: string) => withoutSecrets(text, secrets());
    const sent = () => ({
      method: request.method,
      url: cleaned(request.url),
      durationMs: Math.round(performance.now() - begun),
      requestHeaders: shownOf(request.headers.toJSON(), cleaned),
      requestBody: bodyOf(request.headers.get('content-type'), request.body, cleaned),
    });
    try {
      const response = await inner.sendRequest(request);
      log.debug({ ...sent(), ...received(response, cleaned) }, 'request to the provider');
      return response;
    } catch (error) {
      log.debug({ ...sent(), failure: (error as Error).name }, 'request to the provider failed');
      throw error;
    }
  },
});

const received = ({ status, headers, bodyAsText }: PipelineResponse, cleaned: (text: string) => string) => ({
  status,
  responseHeaders: shownOf(headers.toJSON(), cleaned),
  responseBody: bodyOf(headers.get('content-type'), bodyAsText, cleaned),
});

const shownOf = (headers: Record<string, string>, cleaned: (text: string) => string) =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, shownHeaders.test(name) ? cleaned(value) : mask]),
  );

function bodyOf(
  type: string | undefined,
  body: PipelineRequest['body'] | string | null,
  cleaned: (text: string) => string,
): string | undefined {
  if (typeof body !== 'string' || body === '') return undefined;
  const fields = type?.startsWith('application/x-www-form-urlencoded')
    ? Object.fromEntries(new URLSearchParams(body))
    : parsedJson(body);
  if (fields === undefined) return `${body.length} characters that are not JSON`;
  return cleaned(JSON.stringify(fields, masked)).slice(0, maxCharacters);
}

/** For `JSON.stringify`. The keys of `userAssignedIdentities` are resource IDs. `value` is shown if it is the list of a page. */
function masked(key: string, value: unknown): unknown {
  if (key === '' || /^\d+$/.test(key) || key.startsWith('/subscriptions/') || shownFields.has(key))
    return value;
  return key === 'value' && Array.isArray(value) ? value : mask;
}

const withoutSecrets = (text: string, secrets: readonly string[]): string =>
  secrets
    .filter((secret) => secret.length > 0)
    .reduce((rest, secret) => rest.replaceAll(secret, mask), text)
    .replace(looksLikeToken, mask);

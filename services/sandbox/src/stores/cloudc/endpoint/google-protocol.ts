import { type ErrorResponses, type HttpResponse, jsonResponse } from '../../../simulation/http-response.ts';
import { type ErrorDetail, GoogleError } from '../google-error.ts';
import { rateExceeded } from '../store/rate-limits.ts';

// The protocol of the API: JSON over HTTP, with google.rpc.Status as the body of errors.

/** `version.state` as a number, for clients that ask for it: `$alt=json;enum-encoding=int`. */
const stateNumbers: Readonly<Record<string, number>> = { ENABLED: 1, DISABLED: 2, DESTROYED: 3 };

export function resultResponse(content: object, { numericEnums }: { numericEnums: boolean }): HttpResponse {
  const text = JSON.stringify(content, (key, value: unknown) =>
    numericEnums && key === 'state' && typeof value === 'string' ? stateNumbers[value] : value,
  );
  return { ...jsonResponse(200, {}), body: text };
}

const errorResponse = ({ status, code, message, details }: GoogleError): HttpResponse =>
  statusResponse(status, code, message, details);

export const googleErrors: ErrorResponses = {
  own: (error) => (error instanceof GoogleError ? errorResponse(error) : undefined),
  error: (status, code, message) => statusResponse(status, code, message),
  throttled: (seconds) => errorResponse(rateExceeded(seconds)),
  serverError: () => statusResponse(500, 'INTERNAL', 'Internal error encountered.'),
  invalidSignature: () =>
    statusResponse(401, 'UNAUTHENTICATED', 'Request had invalid authentication credentials.'),
};

function statusResponse(
  code: number,
  status: string,
  message: string,
  details: readonly ErrorDetail[] = [],
): HttpResponse {
  return jsonResponse(code, { error: { code, message, status, ...(details.length > 0 ? { details } : {}) } });
}

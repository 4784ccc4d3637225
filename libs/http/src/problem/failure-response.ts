import { errorCode, Problem } from '@secrets/domain';
import { type Logger, logOutage } from '@secrets/telemetry';
import {
  internalErrorResponse,
  problemResponse,
  type ServiceResponse,
} from '../endpoint/service-response.ts';

/** Failed request, for the log. */
interface FailedRequest {
  method: string;
  /** Undefined if the caller is not known. */
  requestId: string | undefined;
}

/** Turns what a handler threw into a response: a problem by the table, anything else into a fixed message and a log line. */
export function failureResponse(
  error: unknown,
  { method, requestId }: FailedRequest,
  log: Logger,
): ServiceResponse {
  const problem = asProblem(error);
  if (problem?.kind === 'unavailable' && problem.cause !== undefined)
    logOutage(log, problem.message, { error: problem.cause, requestId });
  if (problem !== undefined) return problemResponse(requestId, problem);
  log.error({ error, requestId, method }, 'a request failed unexpectedly');
  return internalErrorResponse(requestId);
}

/** Errors of body-parser have a `type`; those that the client caused become problems. */
function asProblem(error: unknown): Problem | undefined {
  if (error instanceof Problem) return error;
  const type = typeof error === 'object' && error !== null && 'type' in error ? String(error.type) : '';
  if (type === 'entity.too.large') return new Problem('too_large', 'the body exceeds 1 MiB');
  if (type === 'entity.parse.failed') return new Problem('invalid', 'the body is not valid JSON');
  if (type.startsWith('encoding.') || type.startsWith('charset.'))
    return new Problem('unsupported_media_type', 'the body must be UTF-8 JSON');
  if (type.startsWith('request.')) return new Problem('invalid', 'the body is incomplete');
  if (isUnstorableText(error)) return new Problem('invalid', unstorable, { cause: error });
  return undefined;
}

const unstorable = 'the request contains a character that cannot be stored';

/** Whether Postgres refused NUL or an unpaired surrogate, which neither its text nor its JSON types can store. */
function isUnstorableText(error: unknown): boolean {
  const code = errorCode(error);
  if (code === '22021' || code === '22P05') return true;
  return code === '22P02' && error instanceof Error && error.message.endsWith('for type json');
}

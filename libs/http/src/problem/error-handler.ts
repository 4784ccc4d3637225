import { errorCode, Problem } from '@secrets/domain';
import type { Logger } from '@secrets/telemetry';
import type { ErrorRequestHandler, Response } from 'express';
import { reasonHeader, reasonValue } from '../endpoint/audit-headers.ts';
import { httpStatus, problemHeaders } from './problem-status.ts';

/** The message of every 500. The log has the cause. */
export const internalSentence = 'internal error; search the log for this request ID';

/** Turns what a handler threw into a response: a problem by the table, anything else into a fixed message and a log line. */
export function errorHandler(log: Logger): ErrorRequestHandler {
  return (error, request, response, next) => {
    if (response.headersSent) return next(error);
    const problem = asProblem(error);
    if (problem?.kind === 'unavailable' && problem.cause !== undefined)
      log.warn(
        { error: problem.cause, requestId: response.locals.requestId, sentence: problem.message },
        'a dependency is unavailable',
      );
    if (problem !== undefined) return sendProblem(response, problem);
    log.error(
      { error, requestId: response.locals.requestId, method: request.method },
      'a request failed unexpectedly',
    );
    response.set(reasonHeader, reasonValue([internalSentence]));
    response.status(500).json({ errors: [internalSentence], request_id: response.locals.requestId });
  };
}

/** Responds with `{"errors": [sentence, …]}` and the problem's status and headers. */
function sendProblem(response: Response, problem: Problem): void {
  for (const [name, value] of problemHeaders(problem)) response.set(name, value);
  if (response.locals.requestId !== undefined) response.set('x-request-id', response.locals.requestId);
  if (problem.sentences.length > 0) response.set(reasonHeader, reasonValue(problem.sentences));
  response.status(httpStatus[problem.kind]).json({ errors: problem.sentences });
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
  if (error instanceof URIError) return new Problem('invalid', 'the path has invalid percent-encoding');
  return undefined;
}

const unstorable = 'the request contains a character that cannot be stored';

/** How Postgres reports NUL and unpaired surrogates, which neither its text nor its JSON types can store. */
function isUnstorableText(error: unknown): boolean {
  const code = errorCode(error);
  if (code === '22021' || code === '22P05') return true;
  return code === '22P02' && error instanceof Error && error.message.endsWith('for type json');
}

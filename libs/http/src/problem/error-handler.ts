import { errorCode, Problem } from '@secrets/domain';
import type { Logger } from '@secrets/telemetry';
import type { ErrorRequestHandler, Response } from 'express';
import { httpStatus } from './problem-status.ts';

/** The sentence of every 500: the cause is in the log, under the request id. */
export const internalSentence = 'internal error; the request id leads to its cause in the log';

/** Turns what a handler threw into an answer: problems by the table, the rest into a fixed sentence and a log line. */
export function errorHandler(log: Logger): ErrorRequestHandler {
  return (error, request, response, next) => {
    if (response.headersSent) return next(error);
    const problem = asProblem(error);
    if (problem?.kind === 'unavailable' && problem.cause !== undefined)
      log.warn(
        { error: problem.cause, requestId: response.locals.requestId, sentence: problem.message },
        'a part that requests need is down',
      );
    if (problem !== undefined) return sendProblem(response, problem);
    log.error(
      { error, requestId: response.locals.requestId, method: request.method },
      'a request failed unexpectedly',
    );
    response.status(500).json({ errors: [internalSentence], request_id: response.locals.requestId });
  };
}

/** Answers with a problem: `{"errors": [sentence, …]}` and its status. */
export function sendProblem(response: Response, problem: Problem): void {
  if (problem.retryAfterSeconds !== undefined)
    response.set('retry-after', String(Math.ceil(problem.retryAfterSeconds)));
  if (problem.allowed !== undefined) response.set('allow', problem.allowed.join(', '));
  if (response.locals.requestId !== undefined) response.set('x-request-id', response.locals.requestId);
  response.status(httpStatus[problem.kind]).json({ errors: problem.sentences });
}

/** Errors of body-parser carry a `type`; only those that the client caused are theirs to read. */
function asProblem(error: unknown): Problem | undefined {
  if (error instanceof Problem) return error;
  const type = typeof error === 'object' && error !== null && 'type' in error ? String(error.type) : '';
  if (type === 'entity.too.large') return new Problem('too_large', 'the body is over 1 MiB');
  if (type === 'entity.parse.failed') return new Problem('invalid', 'the body is not valid JSON');
  if (type.startsWith('encoding.') || type.startsWith('charset.'))
    return new Problem('unsupported_media_type', 'the body must be UTF-8 JSON');
  if (type.startsWith('request.')) return new Problem('invalid', 'the body did not arrive whole');
  if (isUnstorableText(error)) return new Problem('invalid', unstorable, { cause: error });
  if (error instanceof URIError) return new Problem('invalid', 'the path is not valid percent-encoding');
  return undefined;
}

const unstorable = 'a text of the request holds a character that cannot be stored';

/** What Postgres says of NUL and of half a surrogate pair, which neither its text nor its JSON can hold. */
function isUnstorableText(error: unknown): boolean {
  const code = errorCode(error);
  if (code === '22021' || code === '22P05') return true;
  return code === '22P02' && error instanceof Error && error.message.endsWith('for type json');
}

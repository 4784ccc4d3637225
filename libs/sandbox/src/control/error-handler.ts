import type { NextFunction, Request, Response } from 'express';
import { z } from 'zod';
import { type Answer, plainJson } from '../simulation/http-response.ts';
import { send } from '../simulation/serve-call.ts';

/** The last handler: what could not be read is a 400 or 413, all else a 500; never with what was sent. */
export function answerFailure(
  error: Error,
  _request: Request,
  response: Response,
  _next: NextFunction,
): void {
  send(response, failureOf(error));
}

function failureOf(error: Error): Answer {
  if (error instanceof z.ZodError) return plainJson(400, { errors: error.issues.map(sentenceOf) });
  if (error instanceof RangeError) return plainJson(400, { errors: [error.message] });
  const status = 'status' in error && typeof error.status === 'number' ? error.status : 500;
  return plainJson(status, {
    errors: [status < 500 ? 'the request could not be read' : 'the sandbox failed'],
  });
}

function sentenceOf({ path, message }: z.core.$ZodIssue): string {
  return `${path.join('.') || 'body'}: ${message}`;
}

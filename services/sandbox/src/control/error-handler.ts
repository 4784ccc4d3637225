import type { NextFunction, Request, Response } from 'express';
import { z } from 'zod';
import { type HttpResponse, jsonResponse, sendResponse } from '../simulation/http-response.ts';

/**
 * The last middleware: responds with 400 or 413 to a request that cannot be read, and with 500 to anything else. The
 * response never contains parts of the request.
 */
export function errorHandler(error: Error, _request: Request, response: Response, _next: NextFunction): void {
  sendResponse(response, responseTo(error));
}

function responseTo(error: Error): HttpResponse {
  if (error instanceof z.ZodError) return jsonResponse(400, { errors: error.issues.map(messageOf) });
  if (error instanceof RangeError) return jsonResponse(400, { errors: [error.message] });
  const status = 'status' in error && typeof error.status === 'number' ? error.status : 500;
  const message = status < 500 ? 'the request could not be read' : 'internal error of the sandbox';
  return jsonResponse(status, { errors: [message] });
}

function messageOf({ path, message }: z.core.$ZodIssue): string {
  return `${path.join('.') || 'body'}: ${message}`;
}

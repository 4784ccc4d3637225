/** An error response of the real service: a status and a message, without an error code. */
export class CodehostError extends Error {
  readonly status: number;
  readonly headers: Record<string, string>;

  constructor(status: number, message: string, headers: Record<string, string> = {}) {
    super(message);
    this.name = 'CodehostError';
    this.status = status;
    this.headers = headers;
  }
}

export const notFound = () => new CodehostError(404, 'Not Found');
export const invalid = (message: string) => new CodehostError(422, message);
export const unauthenticated = (message = 'Bad credentials') => new CodehostError(401, message);

/** A parameter that the request lacks, as the real service reports it. */
export const notSupplied = (name: string) => invalid(`Invalid request.\n\n"${name}" wasn't supplied.`);

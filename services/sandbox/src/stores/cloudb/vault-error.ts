/** An error response of the real service. Most codes are general, and the inner code says what happened. */
export class VaultError extends Error {
  readonly status: number;
  readonly code: string;
  readonly innerCode: string | undefined;

  constructor(status: number, code: string, message: string, innerCode?: string) {
    super(message);
    this.name = 'VaultError';
    this.status = status;
    this.code = code;
    this.innerCode = innerCode;
  }
}

export const badParameter = (message: string) => new VaultError(400, 'BadParameter', message);
export const conflict = (innerCode: string, message: string) =>
  new VaultError(409, 'Conflict', message, innerCode);
export const forbidden = (innerCode: string, message: string) =>
  new VaultError(403, 'Forbidden', message, innerCode);
export const secretNotFound = (name: string) =>
  new VaultError(
    404,
    'SecretNotFound',
    `A secret with (name/id) ${name} was not found in this key vault. If you recently deleted this secret you may be able to recover it using the correct recovery command.`,
  );

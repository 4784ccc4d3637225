/** A refusal with the error code that the real service would answer. */
export class AwsRefusal extends Error {
  readonly code: string;
  readonly status: number;

  constructor(code: string, message: string, status = 400) {
    super(message);
    this.name = 'AwsRefusal';
    this.code = code;
    this.status = status;
  }
}

export const invalidRequest = (message: string) => new AwsRefusal('InvalidRequestException', message);
export const invalidParameter = (message: string) => new AwsRefusal('InvalidParameterException', message);
export const notFound = (message: string) => new AwsRefusal('ResourceNotFoundException', message);
export const alreadyExists = (message: string) => new AwsRefusal('ResourceExistsException', message);
export const limitExceeded = (message: string) => new AwsRefusal('LimitExceededException', message);
/** What the service's front answers where a parameter breaks its model: a length, an alphabet, a range. */
export const outsideModel = (message: string) => new AwsRefusal('ValidationException', message);

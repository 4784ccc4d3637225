import type { Fault } from '@secrets/domain';

/**
 * Returns a function that runs a call and throws what `faultOf` returns for its error. `faultOf` throws the errors that are not
 * a failure of the call.
 */
export const throwingFaults =
  (faultOf: (error: unknown, operation: string) => Fault) =>
  async <Result>(operation: string, call: () => Promise<Result>): Promise<Result> => {
    try {
      return await call();
    } catch (error) {
      throw faultOf(error, operation);
    }
  };

import type { Act, Operation } from '../../load/operation.ts';

/** Returns an operation for tests, which was invoked and ended at these times. */
export const operation = (
  act: Act,
  [invokedAt, endedAt]: [number, number],
  rest: Partial<Operation> = {},
): Operation =>
  ({
    ...{ id: `${act.act}-${invokedAt}`, client: 'c', gateway: 'gateway', outcome: 'ok', status: 200 },
    ...{ invokedAt, endedAt },
    ...act,
    ...rest,
  }) as Operation;

import { describe, expect, test } from '@jest/globals';
import { createEgressGuard, type EgressGuard } from '@secrets/egress';
import type { ConnectedDestination } from '../../driver/driver.ts';
import { ownWords } from './fault-tests.ts';

/** Kinds of responses of a token service that fail, and the fault that they are. */
const failures = [
  ['throttle', 'throttled'],
  ['server-error', 'unavailable'],
  ['reset', 'unavailable'],
  ['garbage', 'unavailable'],
  ['huge', 'unavailable'],
  ['deep', 'unavailable'],
  ['redirect', 'unavailable'],
  ['many-headers', 'unavailable'],
  ['empty', 'unavailable'],
  ['cut-off', 'unavailable'],
] as const;

interface Exchange {
  /** The operations of the token service, and how to connect so that a call makes them. */
  operations: Readonly<Record<string, () => Promise<ConnectedDestination>>>;
  /** Makes an operation of the token service fail. */
  fail(fault: { effect: (typeof failures)[number][0]; operation: string }): void;
  /** Ends all faults. */
  clear(): void;
  put(connected: ConnectedDestination): Promise<unknown>;
}

/** Tests that failures of a token service are reported as failures of the call, and end with their cause. */
export function exchangeFailureTests({ operations, fail, clear, put }: Exchange): void {
  describe.each(Object.entries(operations))('while the token service answers %s', (operation, connect) => {
    test.each(failures)('with the fault %s, calls are %s, in words of its own', async (effect, kind) => {
      const connected = await connect();
      fail({ effect, operation });
      await expect(put(connected)).rejects.toMatchObject({
        kind,
        message: expect.stringMatching(kind === 'unavailable' ? ownWords : ''),
      });
      clear();
      await put(connected);
    });
  });
}

interface GuardedExchange {
  /** Connects with the provider's own addresses and this guard. */
  connectWith(guard: EgressGuard): Promise<ConnectedDestination>;
  put(connected: ConnectedDestination): Promise<unknown>;
  /** The host of the token service. */
  host: string;
}

/** Tests that an identity token is not sent to an inward address. */
export function guardedExchangeTest({ connectWith, put, host }: GuardedExchange): void {
  test('Common: the exchange goes through the egress guard', async () => {
    const connected = await connectWith(createEgressGuard({ resolve: async () => ['169.254.169.254'] }));
    await expect(put(connected)).rejects.toMatchObject({
      kind: 'forbidden',
      message: expect.stringContaining(`connection to ${host} refused`),
    });
  });
}

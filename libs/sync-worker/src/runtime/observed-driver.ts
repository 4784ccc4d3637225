import { Fault } from '@secrets/domain';
import { type Span, traced } from '@secrets/telemetry';
import type { Driver } from '../driver/driver.ts';
import type { ProviderOperation, WorkerMetrics } from './worker-metrics.ts';

/** Returns a driver of which every operation at the provider is measured and traced. */
export function observedDriver(driver: Driver, metrics: Pick<WorkerMetrics, 'startCall'>): Driver {
  const observed = <T>(operation: ProviderOperation, call: () => Promise<T>): Promise<T> =>
    traced(
      () => ({
        name: `${operation} ${driver.type}`,
        kind: 'client',
        attributes: { destination_type: driver.type },
      }),
      (span) => measured(operation, call, span),
    );
  const measured = async <T>(
    operation: ProviderOperation,
    call: () => Promise<T>,
    span: Span | undefined,
  ): Promise<T> => {
    const finished = metrics.startCall(operation);
    try {
      const result = await call();
      finished('done');
      return result;
    } catch (error) {
      const kind = error instanceof Fault ? error.kind : 'crashed';
      finished(kind);
      span?.fail(kind);
      throw error;
    }
  };
  return {
    type: driver.type,
    connect: async (settings, context) => {
      const connected = await driver.connect(settings, context);
      const { findUntouched } = connected;
      return {
        put: (request, signal) => observed('put', () => connected.put(request, signal)),
        remove: (request, signal) => observed('remove', () => connected.remove(request, signal)),
        release: (request, signal) => observed('release', async () => connected.release?.(request, signal)),
        inspect: (request, signal) => observed('inspect', () => connected.inspect(request, signal)),
        ...(findUntouched && {
          findUntouched: (requests, signal) => observed('list', () => findUntouched(requests, signal)),
        }),
        list: (after, signal) => observed('list', () => connected.list(after, signal)),
        close: () => connected.close(),
      };
    },
  };
}

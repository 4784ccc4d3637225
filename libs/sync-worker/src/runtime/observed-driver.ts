import { Fault } from '@secrets/domain';
import type { Driver } from '../driver/driver.ts';
import type { ProviderOperation, WorkerMetrics } from './worker-metrics.ts';

/** Returns a driver of which every operation at the provider is measured. */
export function observedDriver(driver: Driver, metrics: Pick<WorkerMetrics, 'startCall'>): Driver {
  const observed = async <T>(operation: ProviderOperation, call: () => Promise<T>): Promise<T> => {
    const finished = metrics.startCall(operation);
    try {
      const result = await call();
      finished('done');
      return result;
    } catch (error) {
      finished(error instanceof Fault ? error.kind : 'crashed');
      throw error;
    }
  };
  return {
    type: driver.type,
    connect: async (settings, context) => {
      const connected = await driver.connect(settings, context);
      return {
        put: (request, signal) => observed('put', () => connected.put(request, signal)),
        remove: (request, signal) => observed('remove', () => connected.remove(request, signal)),
        close: () => connected.close(),
      };
    },
  };
}

import { type Api, sandboxClient } from './api-client.ts';
import type { BenchOptions } from './bench-options.ts';
import { startStoreLooper } from './limits/run-store-loop.ts';
import type { StoreAccess } from './limits/store-client.ts';
import { startProduct } from './product.ts';
import { startProgram } from './program.ts';
import type { Report } from './report.ts';
import { measureBacklog } from './sync/backlog.ts';
import { measureDelay } from './sync/delay.ts';
import { openSyncSetup } from './sync/sync-setup.ts';

/** Secrets on their way to an external store, beside the same calls of the provider's client alone. */
export async function benchSync(options: BenchOptions): Promise<Report[]> {
  const sandbox = await startProgram({ source: 'services/sandbox/src/main.ts', env: {} });
  const looper = startStoreLooper();
  try {
    const product = await startProduct({ ...options, sandboxUrl: sandbox.url, sync: true });
    try {
      const control = sandboxClient(sandbox.url);
      const access = await storeAccess(sandbox.url, control);
      const setup = await openSyncSetup({ product, sandbox: control, access, looper }, options);
      try {
        return [await measureBacklog(setup, options), await measureDelay(setup, options)];
      } finally {
        await setup.close();
      }
    } finally {
      await product.stop();
    }
  } finally {
    looper.stop();
    await sandbox.stop();
  }
}

async function storeAccess(sandboxUrl: string, control: Api): Promise<StoreAccess> {
  const about = (await control('GET', 'about')) as {
    stores: Record<string, { path: string; credentials: { accessKeyId: string; secretAccessKey: string } }>;
  };
  const store = about.stores['cloudA-sm'];
  if (store === undefined) throw new Error('the sandbox has no store cloudA-sm');
  const { accessKeyId, secretAccessKey } = store.credentials;
  return { endpoint: sandboxUrl + store.path, region: 'eu-west-1', accessKeyId, secretAccessKey };
}

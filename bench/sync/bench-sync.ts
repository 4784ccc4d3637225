import type { BenchOptions } from '../command-line.ts';
import type { StoreAccess } from '../limits/store-client.ts';
import { startStoreProcess } from '../limits/store-process.ts';
import type { Report } from '../report.ts';
import { type Api, sandboxClient } from '../system/api-client.ts';
import { startProduct } from '../system/product.ts';
import { startProgram } from '../system/program.ts';
import { measureBacklog } from './backlog.ts';
import { measureDelay } from './delay.ts';
import { openSyncSetup } from './sync-setup.ts';

/** Measures the synchronization with an external store, compared with the same calls of the provider's client alone. */
export async function benchSync(options: BenchOptions): Promise<Report[]> {
  const sandbox = await startProgram({ source: 'services/sandbox/src/main.ts', env: {} });
  const storeProcess = startStoreProcess();
  try {
    const product = await startProduct({ ...options, sandboxUrl: sandbox.url, sync: true });
    try {
      const control = sandboxClient(sandbox.url);
      const access = await storeAccess(sandbox.url, control);
      const setup = await openSyncSetup({ product, sandbox: control, access, storeProcess }, options);
      try {
        return [await measureBacklog(setup, options), await measureDelay(setup, options)];
      } finally {
        await setup.close();
      }
    } finally {
      await product.stop();
    }
  } finally {
    storeProcess.stop();
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

// Only calls stores with the providers' clients: receives jobs from its parent process, and returns the figures.
import { answerJobs } from '../load/child.ts';
import { forEach } from '../system/api-client.ts';
import { openStore } from './stores/open-store.ts';
import type { StoreAddress, StoreClient } from './stores/store-client.ts';

export interface StoreJob {
  address: StoreAddress;
  operation: keyof StoreClient;
  names: string[];
  value: string;
  concurrency: number;
}

export interface StoreResult {
  seconds: number;
  /** Duration of each operation. */
  milliseconds: number[];
}

const clients = new Map<string, Promise<StoreClient>>();

/** One client for each type, as in a worker. */
function clientOf(address: StoreAddress): Promise<StoreClient> {
  const client = clients.get(address.destinationType) ?? openStore(address);
  clients.set(address.destinationType, client);
  return client;
}

async function run({ address, operation, names, value, concurrency }: StoreJob): Promise<StoreResult> {
  const client = await clientOf(address);
  const milliseconds: number[] = [];
  const began = performance.now();
  await forEach(names, concurrency, async (name) => {
    const called = performance.now();
    await client[operation](name, value);
    milliseconds.push(performance.now() - called);
  });
  return { seconds: (performance.now() - began) / 1_000, milliseconds };
}

answerJobs(run);

import { type Child, startChild } from '../load/child.ts';
import type { StoreJob, StoreResult } from './store-loop.ts';

/** A process that only calls the store with the provider's client. */
export type StoreProcess = Child<StoreJob, StoreResult>;

export const startStoreProcess = (): StoreProcess => startChild(new URL('./store-loop.ts', import.meta.url));

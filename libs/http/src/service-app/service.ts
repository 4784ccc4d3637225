import type { Express } from 'express';

/** One service, built and not yet listening: its app, its background loops, their orderly end. */
export interface Service {
  app: Express;
  start(): Promise<void>;
  stop(): Promise<void>;
}

import type { RequestListener } from 'node:http';
import type { Express } from 'express';

/** A service that is built but not yet listening. */
export interface Service<App extends RequestListener = Express> {
  app: App;
  /** Starts the background work. */
  start(): Promise<void>;
  /** Ends the background work and closes what the service opened. */
  stop(): Promise<void>;
}

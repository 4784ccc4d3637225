import type { RequestListener } from 'node:http';
import type { ServiceApp } from './service-app.ts';

/** A service that is built but not yet listening. */
export interface Service<App extends RequestListener = ServiceApp> {
  app: App;
  /** Starts the background work. */
  start(): Promise<void>;
  /** Ends the background work and closes what the service opened. */
  stop(): Promise<void>;
}

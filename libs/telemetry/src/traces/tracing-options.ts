import type { Logger } from '../logger.ts';

export interface TracingOptions {
  /** The service's folder name; `OTEL_SERVICE_NAME` replaces it. */
  service: string;
  env: Readonly<Record<string, string | undefined>>;
  log: Logger;
}

import { type InternalTls, internalHeaderBytes, type Service } from '@secrets/http';
import type { Preparation } from './preparation.ts';
import { type Process, serve } from './run-service.ts';

interface ServiceEnv {
  HOST: string;
  PORT: number;
  INTERNAL_PORT?: number | undefined;
  DRAIN_SECONDS: number;
}

/**
 * Starts a service behind the gateway, and its servers: one for the services that call it, with certificates at both ends if
 * there is `tls`, and one for operators if `INTERNAL_PORT` is set.
 */
export async function serveBehindGateway(
  service: Service,
  { env, log, onStop }: Pick<Process<ServiceEnv>, 'env' | 'log' | 'onStop'>,
  { preparation, tls }: { preparation: Preparation; tls: InternalTls | undefined },
): Promise<void> {
  const { HOST: host, PORT: port, INTERNAL_PORT: internalPort, DRAIN_SECONDS: drainSeconds } = env;
  const { callers, operators } = service.app;
  const onRefused = (reason: string) =>
    log.warn({ reason, callers: [...callers] }, 'refused a connection of somebody who may not call');
  const callerTls = tls && { tls, callers, onRefused };
  const forOperators =
    internalPort === undefined ? undefined : { app: operators, options: { host, port: internalPort } };
  const options = { host, port, maxHeaderBytes: internalHeaderBytes, callerTls };
  await serve(service, options, { log, onStop }, { drainSeconds, preparation, forOperators });
}

export * from './base-env.ts';
export * from './internal-tls.ts';
export * from './preparation.ts';
export * from './reload-files.ts';
export * from './reload-signal.ts';
export * from './run-service.ts';
export * from './serve-behind-gateway.ts';
export * from './stop-in-order.ts';

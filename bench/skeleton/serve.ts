import type { Server } from 'node:http';
import type { Express } from 'express';

/** Listens on the port `PORT` until SIGTERM. */
export function serve(app: Express): Server {
  const server = app.listen(Number(process.env.PORT), '127.0.0.1');
  server.keepAliveTimeout = 65_000;
  process.once('SIGTERM', () => process.exit(0));
  return server;
}

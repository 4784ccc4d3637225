import { type DestinationStream, type Logger as PinoLogger, pino } from 'pino';
import { timeField } from './line-time.ts';
import { currentSpan } from './traces/traces.ts';

/** Writes constant messages plus fields, as one JSON object per line. */
export type Logger = PinoLogger;

export interface LoggerOptions {
  /** The service's folder name; a field of every line. */
  service: string;
  level?: string;
  destination?: DestinationStream;
}

/** Fields that are masked if they are logged by mistake. */
const secretFields = [
  'token',
  'client_token',
  'jwt',
  'client_secret',
  'secret_access_key',
  'private_key',
  'access_token',
  'password',
];
const paths = secretFields.flatMap((field) => [field, `*.${field}`, `*.*.${field}`]);

/** Creates the logger of one service. It writes to stdout unless a destination is given. */
export function createLogger({ service, level = 'info', destination }: LoggerOptions): Logger {
  const options = {
    level,
    base: {},
    timestamp: timeField,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { error: errorFields },
    mixin: traceFields,
    redact: { paths: [...paths, 'headers', 'req.headers'], censor: '*****' },
  };
  const root = destination === undefined ? pino(options) : pino(options, destination);
  return namedLogger(root, service);
}

/** The logger without a name that a named one was made from: a field that is bound twice would be in each line twice. */
const roots = new WeakMap<Logger, Logger>();

/** The logger of another service in the same process: it differs only in the field `service`. */
export const loggerOf = (log: Logger, service: string): Logger => namedLogger(roots.get(log) ?? log, service);

function namedLogger(root: Logger, service: string): Logger {
  const log = root.child({ service });
  roots.set(log, root);
  return log;
}

/** A line that is written in a span has the IDs by which the trace is found. */
function traceFields(): Record<string, unknown> {
  const span = currentSpan();
  return span === undefined ? {} : { traceId: span.traceId, spanId: span.spanId };
}

/** An error as fields: name, code, message and stack, without the properties that libraries add (bodies, headers). */
function errorFields(error: unknown): Record<string, unknown> {
  if (typeof error !== 'object' || error === null || !('message' in error)) return { message: String(error) };
  const { name, message, stack, code } = error as Error & { code?: unknown };
  return { name, code, message, stack };
}

/** A logger that writes nothing, for tests. */
export const silentLogger = (): Logger => pino({ level: 'silent' });

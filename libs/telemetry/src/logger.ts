import { type DestinationStream, type Logger as PinoLogger, pino } from 'pino';

/** Writes constant sentences plus fields, one JSON object a line. */
export type Logger = PinoLogger;

export interface LoggerOptions {
  /** The service's folder name; stands in every line. */
  service: string;
  level?: string;
  destination?: DestinationStream;
}

/** Fields that must never be printed, wherever somebody puts them by mistake. */
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

/** Makes the logger of one service: lines on stdout unless a destination is given. */
export function createLogger({ service, level = 'info', destination }: LoggerOptions): Logger {
  const options = {
    level,
    base: { service },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { error: errorFields },
    redact: { paths: [...paths, 'headers', 'req.headers'], censor: '*****' },
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}

/** An error as fields: name, code, message, stack; never the properties that libraries hang on it (bodies, headers). */
function errorFields(error: unknown): Record<string, unknown> {
  if (typeof error !== 'object' || error === null || !('message' in error)) return { message: String(error) };
  const { name, message, stack, code } = error as Error & { code?: unknown };
  return { name, code, message, stack };
}

/** A logger that prints nothing, for tests that look elsewhere. */
export const silentLogger = (): Logger => pino({ level: 'silent' });

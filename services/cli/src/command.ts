import type { Api } from './api.ts';
import type { Output } from './output.ts';

/** Everything that a command works with. */
export interface Context {
  api: Api;
  output: Output;
  /** Resolves after some time, or rejects when the user ends the command. */
  sleep(ms: number): Promise<void>;
}

/** Whether everything is as the user wants it; if not, the command exits with 1. */
export type Verdict = boolean;

/**
 * The path of a destination that is written as `<type>/<name>`.
 * @throws if it is not
 */
export function destinationPath(destination: string): string {
  const [type, name, ...rest] = destination.split('/');
  if (!type || !name || rest.length > 0)
    throw new Error(`"${destination}": name a destination as <type>/<name>, such as cloudA-sm/prod`);
  return `sys/sync/destinations/${encodeURIComponent(type)}/${encodeURIComponent(name)}`;
}

/** A query string with the values that are there. */
export function queryOf(values: Readonly<Record<string, string | number | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) if (value !== undefined) query.set(name, String(value));
  return query.size === 0 ? '' : `?${query}`;
}

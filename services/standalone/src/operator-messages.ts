import { ConfigError } from '@secrets/config';
import { DatabaseStartError } from '@secrets/db';
import { errorCode } from '@secrets/domain';
import { KeyServiceError } from '@secrets/key-service';
import { SealKeyError } from '@secrets/seal-rotation';
import type { Standalone } from './app.ts';
import type { Env } from './config.ts';

/** An address that this machine can open, for a server that listens on all of them. */
const reachable = (url: string): string =>
  url.replace(/^(https?:\/\/)(0\.0\.0\.0|\[::\])(?=:)/, '$1127.0.0.1');

/**
 * Returns the text to print after the start: the URL, that of the console, where the root token is, three calls to try. Programs
 * parse the first line.
 */
export function greeting({
  consoleUrl,
  internalUrl,
  rootTokenFile,
  sandbox,
  ...gateway
}: Pick<Standalone, 'url' | 'consoleUrl' | 'internalUrl' | 'rootTokenFile' | 'sandbox'>): string {
  const url = reachable(gateway.url);
  const header = `-H "X-Service-Token: $(cat ${rootTokenFile})"`;
  const store =
    sandbox === undefined
      ? ''
      : `The sandbox shows the content of each external store: ${reachable(sandbox.url)}/\n`;
  const console = consoleUrl === undefined ? '' : `The console: ${reachable(consoleUrl)}\n`;
  return `ready ${url}
${console}The root token is in ${rootTokenFile}
${store}Metrics: ${reachable(internalUrl)}/metrics
Try:
  curl ${header} ${url}/v1/sys/mounts/secret -d '{"type": "kv"}'
  curl ${header} ${url}/v1/secret/data/hello -d '{"data": {"greeting": "world"}}'
  curl ${header} ${url}/v1/secret/data/hello
`;
}

/** Returns what the operator can do about an error at startup; undefined if there is nothing to add to the error itself. */
export function startFailure(error: unknown, env: Env | undefined): string | undefined {
  if (
    [ConfigError, DatabaseStartError, KeyServiceError, SealKeyError].some((known) => error instanceof known)
  )
    return (error as Error).message;
  if (errorCode(error) !== 'EADDRINUSE') return undefined;
  const { address, port } = error as { address?: string; port?: number };
  const variable =
    (['SANDBOX_PORT', 'INTERNAL_PORT'] as const).find((name) => port === env?.[name]) ?? 'PORT';
  return `${address}:${port} is in use: stop the process that listens there, or set ${variable} to another port`;
}

import { operatorApp, type ServerOptions } from '@secrets/http';
import { type KeyFile, openKeyFile } from '@secrets/seal';
import { digestOf, type Process, type ReloadedFiles, reloadFiles, runPreparation } from '@secrets/service';
import { type KeyServiceSettings, mayPass, openKeyServices } from './key-services.ts';

interface KeysOptions extends Pick<ReloadedFiles, 'onSignal' | 'pollSeconds'> {
  file: string;
  /** The address at which the process shows that it is not ready, while it waits for a key service. */
  server?: ServerOptions;
}

/**
 * Opens a file of keys, and reads it again when it changes. If a key service is needed and not available, waits for it: the
 * process is not ready until then. Afterwards, the keys are in memory, and only new lines of the file need the service.
 * @param what for the log, such as `the seal keys`
 * @throws if the file or a wrapped key is unusable
 */
export async function openKeys(
  { env, log, metrics, onStop }: Process<KeyServiceSettings>,
  what: 'the seal keys' | 'the row keys',
  { file, server, ...polling }: KeysOptions,
): Promise<KeyFile> {
  const { unwrap } = openKeyServices(env);
  const opened: KeyFile[] = [];
  let readDigest: string | undefined; // of before it is read: a change while a key is unwrapped is not missed
  const run = async () => {
    readDigest = await digestOf([file]);
    opened.push(await openKeyFile(file, unwrap));
  };
  const app = operatorApp({ metrics, readiness: {}, databaseTime: Date.now });
  await runPreparation(
    { needs: `a key service for ${what}`, run, isMissing: mayPass },
    app,
    server ? [server] : [],
    log,
  );
  const keys = opened[0]!;
  const outdated = metrics.gauge(
    'key_file_outdated',
    'Whether a changed key file could not be read, so that its former content is in use',
    ['keys'],
  );
  const label = what.replace('the ', '').replace(' keys', '');
  outdated.set({ keys: label }, 0);
  reloadFiles(
    { log, onStop },
    {
      ...polling,
      ...(readDigest === undefined ? {} : { readDigest }),
      what,
      files: [file],
      reload: keys.reload,
      mayPass,
      onReload: (succeeded) => outdated.set({ keys: label }, succeeded ? 0 : 1),
    },
  );
  return keys;
}

interface RowKeyEnv extends KeyServiceSettings {
  ROW_KEY_FILE?: string | undefined;
}

/** Opens the row keys as `openKeys` does, if the process has any. */
export const openRowKeys = async (
  process: Process<RowKeyEnv>,
  server: ServerOptions,
): Promise<KeyFile | undefined> =>
  process.env.ROW_KEY_FILE === undefined
    ? undefined
    : openKeys(process, 'the row keys', { file: process.env.ROW_KEY_FILE, server });

interface ServiceEnv extends RowKeyEnv {
  SEAL_KEY_FILE: string;
  HOST: string;
  PORT: number;
  INTERNAL_PORT?: number | undefined;
}

/** Opens the keys of a service behind the gateway as `openKeys` does. */
export async function openKeysOfService(process: Process<ServiceEnv>) {
  const { HOST: host, SEAL_KEY_FILE: file } = process.env;
  const port = process.env.INTERNAL_PORT ?? process.env.PORT;
  const keyRing = await openKeys(process, 'the seal keys', { file, server: { host, port } });
  return { keyRing, rowKeys: await openRowKeys(process, { host, port }) };
}

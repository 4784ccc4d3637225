import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { every } from '@secrets/background';
import { onReloadSignal } from './reload-signal.ts';
import type { Process } from './run-service.ts';

/** Files that are read again while the process runs. */
export interface ReloadedFiles {
  /** For the log, such as `the TLS files`. */
  what: string;
  files: readonly string[];
  /** Applies the current content of the files. If it rejects, the process keeps the previous content. */
  reload(): Promise<unknown> | unknown;
  /** Whether SIGHUP reloads them at once. Default true. */
  onSignal?: boolean;
  /** Default 10. */
  pollSeconds?: number;
}

/**
 * Reloads files when their content changes, and on SIGHUP, until the process stops. The content is compared, because files that
 * an orchestrator mounts are replaced through a symbolic link. A failed reload is logged as an error; the next change is
 * another attempt.
 */
export function reloadFiles(
  { log, onStop }: Pick<Process<unknown>, 'log' | 'onStop'>,
  { what, files, reload, onSignal = true, pollSeconds = 10 }: ReloadedFiles,
): void {
  const reloadNow = async () => {
    try {
      await reload();
      log.info({ files }, `reloaded ${what}`);
    } catch (error) {
      log.error({ error, files }, `unable to reload ${what}; what was read before stays in use`);
    }
  };
  let known = digestOf(files);
  const poll = every(pollSeconds, `reload of ${what}`, log, async () => {
    const before = await known;
    known = digestOf(files);
    if ((await known) !== before) await reloadNow();
  });
  onStop(poll.stop);
  if (onSignal) onStop(onReloadSignal(() => void reloadNow()));
}

/** Opens a file of keys, and reads it again when it changes. */
export function openReloaded<Keys extends { reload(): unknown }>(
  process: Pick<Process<unknown>, 'log' | 'onStop'>,
  what: string,
  { file, open }: { file: string; open: (file: string) => Keys },
): Keys {
  const keys = open(file);
  reloadFiles(process, { what, files: [file], reload: keys.reload });
  return keys;
}

/** Opens a file of keys as `openReloaded` does, if one is given. */
export const openReloadedIfGiven = <Keys extends { reload(): unknown }>(
  process: Pick<Process<unknown>, 'log' | 'onStop'>,
  what: string,
  { file, open }: { file: string | undefined; open: (file: string) => Keys },
): Keys | undefined => (file === undefined ? undefined : openReloaded(process, what, { file, open }));

/** A file that cannot be read counts as empty: to reload it will fail and say why. */
async function digestOf(files: readonly string[]): Promise<string> {
  const contents = await Promise.all(files.map((file) => readFile(file).catch(() => Buffer.alloc(0))));
  const hash = createHash('sha256');
  for (const content of contents) hash.update(`${content.length}:`).update(content);
  return hash.digest('hex');
}

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
  /** Whether an error of `reload` may pass by itself: it is then tried again at each poll, and logged once. Default: none. */
  mayPass?: (error: unknown) => boolean;
  /** The digest of what the process has read; by default, that of the current content. */
  readDigest?: string;
  /** Called after each reload, with whether it succeeded. */
  onReload?: (succeeded: boolean) => unknown;
}

/**
 * Reloads files when their content changes, and on SIGHUP, until the process stops. The content is compared, because files that
 * an orchestrator mounts are replaced through a symbolic link. A failed reload is logged as an error; the next change, or the
 * next poll if the error may pass, is another attempt.
 */
export function reloadFiles(
  { log, onStop }: Pick<Process<unknown>, 'log' | 'onStop'>,
  { what, files, reload, onSignal = true, pollSeconds = 10, ...options }: ReloadedFiles,
): void {
  const { mayPass = () => false, onReload = () => undefined, readDigest } = options;
  let waitsFor: string | undefined;
  const reloadNow = async () => {
    try {
      await reload();
      waitsFor = undefined;
      onReload(true);
      log.info({ files }, `reloaded ${what}`);
    } catch (error) {
      const isLogged = waitsFor === String(error);
      waitsFor = mayPass(error) ? String(error) : undefined;
      onReload(false);
      if (!isLogged)
        log.error({ error, files }, `unable to reload ${what}; what was read before stays in use`);
    }
  };
  let known = readDigest === undefined ? digestOf(files) : Promise.resolve(readDigest);
  const poll = every(pollSeconds, `reload of ${what}`, log, async () => {
    const before = await known;
    known = digestOf(files);
    if ((await known) !== before || waitsFor !== undefined) await reloadNow();
  });
  onStop(poll.stop);
  if (onSignal) onStop(onReloadSignal(() => void reloadNow()));
}

/** The digest of the content of files. A file that cannot be read counts as empty: to reload it will fail and say why. */
export async function digestOf(files: readonly string[]): Promise<string> {
  const contents = await Promise.all(files.map((file) => readFile(file).catch(() => Buffer.alloc(0))));
  const hash = createHash('sha256');
  for (const content of contents) hash.update(`${content.length}:`).update(content);
  return hash.digest('hex');
}

import type { Logger } from '@secrets/telemetry';
import { readConsoleFiles } from './console-files.ts';
import { consolePath, type ServeConsole, serveConsole } from './serve-console.ts';

interface OpenConsole {
  serve: ServeConsole;
  /** Path of the console; undefined if it is not served. */
  path: string | undefined;
}

/** Reads the console of a folder; undefined if it is switched off. The gateway runs without one, too. */
export function openConsole(folder: string | undefined, log: Logger): OpenConsole {
  if (folder === undefined) return without('the console is switched off (CONSOLE)');
  const files = readConsoleFiles(folder);
  if (files !== undefined) return { serve: serveConsole(files), path: consolePath };
  log.warn({ folder }, 'the console is not built, so /ui/ returns 404');
  return without('the console is not built: run npm run setup, and restart the service');
}

const without = (why: string): OpenConsole => ({ serve: serveConsole(why), path: undefined });

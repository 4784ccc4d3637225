import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '../../scripts/free-ports.ts';
import { atExit } from '../../scripts/test-services/at-exit.ts';
import { type Api, apiClient, sandboxClient } from './api-client.ts';
import { startProgram } from './program.ts';

/** The standalone service with its own database, broker and sandbox. */
export interface Standalone {
  api: Api;
  sandbox: Api;
  sandboxUrl: string;
  /** Stops it and deletes its data. */
  stop(): Promise<void>;
}

/** Starts the program of `npm start` on temporary data. */
export async function startStandalone(profiles: string | undefined): Promise<Standalone> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-standalone-'));
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  const forget = atExit(remove);
  const cleanUp = () => {
    forget();
    remove();
  };
  const [sandboxPort] = await freePorts(1);
  const env = { DATA_DIR: folder, SANDBOX_PORT: String(sandboxPort) };
  const program = await startProgram({ source: 'services/standalone/src/main.ts', env, profiles }).catch(
    (error) => {
      cleanUp();
      throw error;
    },
  );
  const sandboxUrl = `http://127.0.0.1:${sandboxPort}`;
  const rootToken = readFileSync(join(folder, 'root-token'), 'utf8').trim();
  return {
    api: apiClient(program.url, rootToken),
    sandbox: sandboxClient(sandboxUrl),
    sandboxUrl,
    stop: async () => {
      await program.stop();
      cleanUp();
    },
  };
}

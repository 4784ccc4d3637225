import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '../../../scripts/free-ports.ts';
import { Program } from '../../harness/program.ts';
import { clientFolder } from '../install/install.ts';

/** An OpenBao server in memory. */
export interface OpenBaoServer {
  url: string;
  rootToken: string;
  stop(): Promise<void>;
}

/** Starts the server that is part of the OpenBao command line. Resolves when it is ready. */
export async function startOpenBao(): Promise<OpenBaoServer> {
  const home = mkdtempSync(join(tmpdir(), 'bao-server-'));
  const [port] = await freePorts(2); // the port after it is for its cluster
  const rootToken = 'root';
  const address = `127.0.0.1:${port}`;
  const flags = [`-dev-root-token-id=${rootToken}`, `-dev-listen-address=${address}`, '-dev-no-store-token'];
  const program = new Program(join(clientFolder('openbao'), 'bin', 'bao'), {
    args: ['server', '-dev', ...flags, '-log-level=error'],
    env: { PATH: process.env.PATH, HOME: home },
  });
  const url = `http://${address}`;
  const stop = async () => {
    await program.end('SIGKILL'); // nothing that it has is kept
    rmSync(home, { recursive: true, force: true });
  };
  const isReady = () =>
    fetch(`${url}/v1/sys/health`).then(
      ({ ok }) => ok,
      () => false,
    );
  try {
    await program.until(isReady, 'was ready');
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, rootToken, stop };
}

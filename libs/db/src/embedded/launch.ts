import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, readFileSync, statSync } from 'node:fs';

/** The user and group `nobody`: PostgreSQL refuses to run as root. */
const nobody = 65_534;

const isRoot = process.getuid?.() === 0;

/**
 * Starts a PostgreSQL program as a child process. On Linux, the kernel sends it `deathSignal` when this process dies, so that
 * it also ends after `kill -9`. If this process is root, the program runs as `nobody`; a capability to search folders lets
 * it reach its files below folders that only root can enter.
 */
export function launch(
  program: string,
  args: readonly string[],
  { deathSignal = 'SIGINT' }: { deathSignal?: 'SIGINT' | 'SIGKILL' } = {},
): ChildProcess {
  const [command, ...rest] = [...wrapper(deathSignal), program, ...args] as [string, ...string[]];
  const asNobody = isRoot && command === program ? { uid: nobody, gid: nobody } : {};
  return spawn(command, rest, {
    ...asNobody,
    detached: true, // signals of the terminal are for this process, which stops the server when it is done
    stdio: ['ignore', 'pipe', 'pipe'],
    windowsHide: true,
    env: environment(),
  });
}

/** Makes a file or folder belong to the user that PostgreSQL runs as. */
export function chownToServer(path: string): void {
  if (isRoot) chownSync(path, nobody, nobody);
}

/**
 * Closes a folder of root, which may have been created by something else, to the other processes of `nobody`: unlike them,
 * PostgreSQL has the capability to enter it.
 */
export function closeToOthers(folder: string): void {
  if (isRoot && hasSetpriv() && searchCapability() !== undefined && statSync(folder).uid === 0)
    chmodSync(folder, 0o700);
}

/** PostgreSQL does not inherit this process's environment, which may hold secrets, and `PG…` variables that change settings. */
function environment(): NodeJS.ProcessEnv {
  // biome-ignore lint/style/noProcessEnv: not configuration: where the system keeps programs and temporary files.
  const { PATH, TMPDIR, SystemRoot, TEMP } = process.env;
  return { PATH, TMPDIR, SystemRoot, TEMP, LC_ALL: 'C', TZ: 'UTC' };
}

let cachedOptions: string[] | undefined;

/** `setpriv` and its options; empty where there is none. https://man7.org/linux/man-pages/man1/setpriv.1.html */
function wrapper(deathSignal: NodeJS.Signals): string[] {
  if (!hasSetpriv()) return [];
  cachedOptions ??= isRoot ? userOptions() : [];
  const died = [`--pdeathsig=${deathSignal.replace('SIG', '')}`, ...cachedOptions];
  return ['setpriv', ...died, 'sh', '-c', unlessOrphaned, String(process.pid)];
}

/** If this process died before the signal was set, none is sent: then the program does not start. */
const unlessOrphaned = '[ "$PPID" -eq "$0" ] && exec "$@"';

let cachedHasSetpriv: boolean | undefined;

function hasSetpriv(): boolean {
  cachedHasSetpriv ??=
    process.platform === 'linux' &&
    spawnSync('setpriv', ['--pdeathsig=INT', 'true'], { stdio: 'ignore', timeout: 5_000 }).status === 0;
  return cachedHasSetpriv;
}

function userOptions(): string[] {
  const user = [`--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups', '--no-new-privs'];
  const search = searchCapability();
  if (search === undefined) return user;
  // Without the secure bit, access(2) ignores capabilities, and PostgreSQL asks it whether it may run its own programs.
  return [...user, '--securebits=+no_setuid_fixup', `--inh-caps=+${search}`, `--ambient-caps=+${search}`];
}

/**
 * The least capability that lets a process enter any folder, of those that this process may pass on; container engines drop
 * some.
 */
function searchCapability(): string | undefined {
  const bounding = /^CapBnd:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
  const has = (bit: bigint) => ((BigInt(`0x${bounding ?? '0'}`) >> bit) & 1n) === 1n;
  if (has(2n)) return 'dac_read_search';
  return has(1n) ? 'dac_override' : undefined;
}

/** The capabilities of a token by path. */
export type Capabilities = Readonly<Record<string, readonly string[]>>;

/** Asks the service about these paths. */
export type AskCapabilities = (paths: string[]) => Promise<Capabilities>;

export interface CapabilitiesReader {
  /** Returns the capabilities on these paths. Rejects if the service does not answer. */
  read(paths: readonly string[]): Promise<Capabilities>;
  /** Forgets every answer. */
  forget(): void;
}

/** A change of policies is seen after this time, or as soon as something is refused. */
export const knownForMs = 300_000;

/** https://developer.hashicorp.com/vault/api-docs/system/capabilities-self has no limit; this service accepts as many paths. */
const maxPaths = 256;

interface Answer {
  capabilities: Promise<readonly string[]>;
  askedAtMs: number;
}

/**
 * Remembers what a token may do on a path for five minutes. Components of a page that ask in the same turn share one request:
 * each request is two lines in the audit.
 */
export function capabilitiesReader(ask: AskCapabilities, now: () => number = Date.now): CapabilitiesReader {
  const answers = new Map<string, Answer>();
  let waiting: { paths: string[]; answer: Promise<Capabilities> } | undefined;

  const askTogether = (path: string): Promise<Capabilities> => {
    if (waiting === undefined || waiting.paths.length === maxPaths) {
      const paths: string[] = [];
      waiting = { paths, answer: endOfTurn().then(() => askNow(paths)) };
    }
    waiting.paths.push(path);
    return waiting.answer;
  };
  const askNow = (paths: string[]) => {
    if (waiting?.paths === paths) waiting = undefined;
    return ask(paths);
  };
  const read = (path: string): Promise<readonly string[]> => {
    const known = answers.get(path);
    if (known !== undefined && now() - known.askedAtMs < knownForMs) return known.capabilities;
    const capabilities = askTogether(path).then((all) => all[path] ?? []);
    answers.set(path, { capabilities, askedAtMs: now() });
    capabilities.catch(() => answers.delete(path));
    return capabilities;
  };
  return {
    read: async (paths) =>
      Object.fromEntries(await Promise.all(paths.map(async (path) => [path, await read(path)] as const))),
    forget: () => answers.clear(),
  };
}

const endOfTurn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

import { parseArgs } from 'node:util';

const actions = ['wrap', 'rewrap', 'unwrap', 'new'] as const;

/** A change of key files. */
export interface SealKeysRequest {
  action: (typeof actions)[number];
  /** `<service>:<key of the service>`; empty for `unwrap`. */
  target: string;
  /** The id of a new key; empty for other actions. */
  id: string;
  isDry: boolean;
  files: readonly string[];
}

const usage = `usage: main.ts seal-keys wrap|rewrap --with <service>:<key> [--dry-run] <file>…
       main.ts seal-keys new --with <service>:<key> --id <id> [--dry-run] <file>…
       main.ts seal-keys unwrap [--dry-run] <file>…`;

/** Parses what follows `seal-keys` on the command line. */
export function parseSealKeysArguments(args: readonly string[]): SealKeysRequest {
  const { values, positionals } = parsed(args);
  const [name = '', ...files] = positionals;
  const action = actions.find((one) => one === name);
  const { with: target = '', id = '', 'dry-run': isDry = false } = values;
  if (action === undefined || files.length === 0) throw new Error(usage);
  if ((action === 'unwrap') !== (target === '') || (action === 'new') !== (id !== '')) throw new Error(usage);
  return { action, target, id, isDry, files };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { with: { type: 'string' }, id: { type: 'string' }, 'dry-run': { type: 'boolean' } },
    });
  } catch (cause) {
    throw new Error(usage, { cause });
  }
}

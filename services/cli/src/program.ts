import { Command, InvalidArgumentError, Option } from 'commander';
import { change, plan } from './commands/associations.ts';
import { failed, status } from './commands/status.ts';
import { type ImportFields, importSecrets, inspect } from './commands/stores.ts';
import { wait } from './commands/wait.ts';
import { completionFor, isShell } from './completion.ts';
import { describeRules } from './describe-rules.ts';
import { type Runner, runnerOf, type Surroundings } from './runner.ts';

const seconds = (text: string): number => {
  const [, number, unit = 's'] = /^(\d{1,6})([smh]?)$/.exec(text) ?? [];
  if (number === undefined) throw new InvalidArgumentError('must be a time such as 90s, 5m or 1h.');
  return Number(number) * { s: 1, m: 60, h: 3_600, '': 1 }[unit as 's' | 'm' | 'h' | ''];
};

const positive = (text: string): number => {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('must be a positive integer.');
  return Number(text);
};

/** Describes all commands. Each ends with the verdict that `surroundings.ended` gets. */
export function describeProgram(surroundings: Surroundings): Command {
  const program = new Command('secrets-sync')
    .description('Operates the syncing of Secrets Service. Everything else is done with `bao` or `vault`.')
    .version(surroundings.version)
    .addOption(
      new Option('--output <format>', 'how results are printed').choices(['table', 'json']).default('table'),
    )
    .showHelpAfterError('(see --help)')
    .addHelpText('after', environmentHelp);
  const runner = runnerOf(program, surroundings);
  describeStatus(program, runner);
  describeAssociations(program, runner);
  describeRules(program, runner);
  describeStores(program, runner);
  program
    .command('completion')
    .description('prints a script for a shell, such as `source <(secrets-sync completion bash)`')
    .argument('<shell>', 'bash, zsh or fish')
    .action((shell, _options, command: Command) => {
      if (!isShell(shell)) command.error(`error: "${shell}" is not bash, zsh or fish`);
      surroundings.print(completionFor(shell, program));
    });
  return program;
}

function describeStatus(program: Command, { run, watch }: Runner): void {
  program
    .command('status')
    .description('shows each destination; exits with 1 if something has failed, drifted or is held')
    .option('--watch', 'shows it again every five seconds')
    .action(({ watch: isWatched = false }) => watch(isWatched, status));
  program
    .command('failed')
    .description('lists what has failed; exits with 1 if anything has')
    .argument('[destination]', 'default: all')
    .option('--watch', 'lists it again every five seconds')
    .action((destination, { watch: isWatched = false }) =>
      watch(isWatched, (context) => failed(context, destination)),
    );
  program
    .command('wait')
    .description('waits until a version has arrived in every destination; exits with 1 if it has not in time')
    .argument('<secret>')
    .requiredOption('--mount <path>', 'the mount of the secret')
    .addOption(new Option('--secret-version <number>', 'default: the newest').argParser(positive))
    .addOption(new Option('--timeout <time>', 'such as 90s or 5m').argParser(seconds).default(300, '5m'))
    .action((secret, { mount, secretVersion: version, timeout }) =>
      run((context) => wait(context, { mount, secret, version, timeoutSeconds: timeout })),
    );
}

const onSecrets = (program: Command, name: string, description: string): Command =>
  program
    .command(name)
    .description(description)
    .argument('<destination>', 'as <type>/<name>, such as cloudA-sm/prod')
    .argument('<secrets...>', 'names of secrets; - reads them from the standard input, one in each line')
    .requiredOption('--mount <path>', 'the mount of the secrets');

function describeAssociations(program: Command, { run, secretsOf }: Runner): void {
  onSecrets(program, 'plan', 'shows what a set would do; exits with 1 if something would be refused')
    .option('--look', 'also looks at what the store has')
    .action(async (destination, names, { mount, look = false }) => {
      const secrets = await secretsOf(mount, names);
      await run((context) => plan(context, destination, { secrets, look }));
    });
  onSecrets(program, 'set', 'associates secrets with a destination')
    .option('--overwrite', 'takes over external secrets that exist')
    .action(async (destination, names, { mount, ...options }) => {
      const secrets = await secretsOf(mount, names);
      await run((context) => change(context, 'set', destination, { secrets, ...options }));
    });
  onSecrets(program, 'remove', 'ends associations, and deletes their external secrets')
    .option('--keep', 'leaves the external secrets')
    .action(async (destination, names, { mount, ...options }) => {
      const secrets = await secretsOf(mount, names);
      await run((context) => change(context, 'remove', destination, { secrets, ...options }));
    });
}

function describeStores(program: Command, { run }: Runner): void {
  program
    .command('inspect')
    .description('looks at what a store has; exits with 1 if it has drifted')
    .argument('<destination>', 'as <type>/<name>')
    .argument('[secret]', 'default: everything in the destination, in the background')
    .option('--mount <path>', 'the mount of the secret')
    .action((destination, name, { mount }, command: Command) => {
      if ((name === undefined) !== (mount === undefined))
        command.error('error: a secret needs --mount, and the reverse');
      const secret = name === undefined ? undefined : { mount, name };
      return run((context) => inspect(context, destination, secret));
    });
  program
    .command('import')
    .description('shows what an import from a store would do, or imports')
    .argument('<destination>', 'as <type>/<name>')
    .argument('[names...]', 'external names')
    .requiredOption('--mount <path>', 'where secrets are written to')
    .option('--match <pattern>', 'in place of names, such as "shop/*"')
    .option('--path <template>', 'the path of each secret in the mount')
    .option('--write', 'imports; without it, nothing is changed')
    .option('--new-version', 'replaces values that differ')
    .action((destination, names: string[], options, command: Command) => {
      if ((names.length === 0) === (options.match === undefined))
        command.error('error: names or --match are needed, not both');
      return run((context) => importSecrets(context, destination, importFields(names, options)));
    });
}

interface ImportOptions {
  mount: string;
  match?: string;
  path?: string;
  write?: boolean;
  newVersion?: boolean;
}

const importFields = (
  names: string[],
  { mount, match, path, write, newVersion }: ImportOptions,
): ImportFields => ({
  mount,
  ...(match === undefined ? { names } : { match }),
  ...(path === undefined ? {} : { path }),
  ...(newVersion ? { on_conflict: 'new_version' } : {}),
  dry_run: write !== true,
});

const environmentHelp = `
Environment, as of the command lines of Vault and OpenBao:
  VAULT_ADDR       default http://127.0.0.1:8200
  VAULT_TOKEN      default: the content of ~/.vault-token
  VAULT_NAMESPACE
  VAULT_CACERT     a file with the authority that has signed the certificate of the service

Exit codes:
  0  everything is as it should be
  1  something was refused, has failed or has not arrived
  2  the command line is wrong
  3  the service has refused the request, or does not respond
`;

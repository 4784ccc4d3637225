import { type Command, InvalidArgumentError } from 'commander';
import { deleteRule, getRule, listRules, planRule, type RuleFields, writeRule } from './commands/rules.ts';
import type { Runner } from './runner.ts';

/** Describes the commands for rules, which associate every secret that they match. */
export function describeRules(program: Command, { run, watch }: Runner): void {
  const rules = program
    .command('rules')
    .description('rules of a destination: many secrets with one statement');
  rules
    .command('list')
    .description('shows each rule; exits with 1 if one has an error, or has refused a secret')
    .argument('<destination>', 'as <type>/<name>')
    .option('--watch', 'shows them again every five seconds')
    .action((destination, { watch: isWatched = false }) =>
      watch(isWatched, (context) => listRules(context, destination)),
    );
  onRule(rules, 'get', 'shows a rule, its progress, and the first secrets that it could not associate')
    .option('--watch', 'shows it again every five seconds')
    .action((destination, name, { watch: isWatched = false }) =>
      watch(isWatched, (context) => getRule(context, destination, name)),
    );
  withFields(
    onRule(rules, 'plan', 'shows what a write of a rule would do; exits with 1 if it refuses or ends'),
  )
    .option('--look', 'also looks at what the store has')
    .action((destination, name, { look = false, ...options }) =>
      run((context) => planRule(context, destination, name, { ...fieldsOf(options), look })),
    );
  withFields(onRule(rules, 'write', 'creates or replaces a rule'))
    .option('--confirm <fingerprint>', 'that of its plan, if it associates or releases much')
    .action((destination, name, { confirm, ...options }) =>
      run((context) =>
        writeRule(context, destination, name, { ...fieldsOf(options), ...(confirm && { confirm }) }),
      ),
    );
  onRule(rules, 'delete', 'deletes a rule, and ends the associations that nothing else holds')
    .option('--keep', 'leaves its associations, held by hand')
    .action((destination, name, { keep = false }) =>
      run((context) => deleteRule(context, destination, name, { keep })),
    );
}

const onRule = (rules: Command, name: string, description: string): Command =>
  rules
    .command(name)
    .description(description)
    .argument('<destination>', 'as <type>/<name>')
    .argument('<rule>', 'its name');

const withFields = (command: Command): Command =>
  command
    .requiredOption('--mount <path>', 'the mount of the secrets')
    .requiredOption('--path <pattern>', 'which secrets, such as "shop/*", "+/db", or "*" for all')
    .option('--exclude <pattern>', 'leaves these out; may be repeated', listed, [])
    .option('--metadata <key=value>', 'only secrets with this custom metadata; may be repeated', paired, {})
    .option('--owner <entity>', 'the entity whose rights count; needs sudo');

const listed = (text: string, before: readonly string[]): string[] => [...before, text];

function paired(text: string, before: Readonly<Record<string, string>>): Record<string, string> {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('must be a key and a value, such as sync=prod.');
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
}

interface RuleOptions {
  mount: string;
  path: string;
  exclude: string[];
  metadata: Record<string, string>;
  owner?: string;
}

const fieldsOf = ({ mount, path, exclude, metadata, owner }: RuleOptions): RuleFields => ({
  mount,
  path,
  exclude,
  metadata_match: metadata,
  ...(owner === undefined ? {} : { owner }),
});

import type { Command } from 'commander';

const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

export const isShell = (text: string): text is Shell => (shells as readonly string[]).includes(text);

/** The words that may follow a command: the names of its own commands, and its options. */
interface Completed {
  name: string;
  words: string;
  options: string[];
}

/** A script for a shell that completes the names of commands and of their options. */
export function completionFor(shell: Shell, program: Command): string {
  const commands = program.commands.flatMap((command) => [command, ...command.commands]).map(completed);
  return shell === 'fish' ? fishScript(program, commands) : bashScript(shell, program, commands);
}

function completed(command: Command): Completed {
  const options = command.options.map(({ long }) => long!);
  const words = [...command.commands.map((one) => one.name()), ...options];
  return { name: command.name(), words: words.join(' '), options };
}

function fishScript(program: Command, commands: readonly Completed[]): string {
  const name = program.name();
  const groups = program.commands.filter((command) => command.commands.length > 0);
  return [
    `complete -c ${name} -f -n __fish_use_subcommand -a '${commandNames(program)}'`,
    ...groups.map((group) => `complete -c ${name} -f -n '${seen(group.name())}' -a '${commandNames(group)}'`),
    ...commands.flatMap((command) =>
      command.options.map(
        (option) => `complete -c ${name} -f -n '${seen(command.name)}' -l ${option.slice(2)}`,
      ),
    ),
    '',
  ].join('\n');
}

const seen = (command: string): string => `__fish_seen_subcommand_from ${command}`;
const commandNames = (command: Command): string => command.commands.map((one) => one.name()).join(' ');

/** The last command that was typed decides: `rules`, and then `rules plan`. */
function bashScript(shell: Shell, program: Command, commands: readonly Completed[]): string {
  const name = program.name();
  const cases = casesOf(commands).map(([command, words]) => `    ${command}) words="${words}" ;;`);
  return `${shell === 'zsh' ? 'autoload -U +X bashcompinit && bashcompinit\n' : ''}_${functionOf(name)}() {
  local words="${completed(program).words}" at
  for at in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do case "$at" in
${cases.join('\n')}
  esac; done
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _${functionOf(name)} ${name}
`;
}

/** Commands of one name, such as `plan` and `rules plan`, share their words. */
function casesOf(commands: readonly Completed[]): [string, string][] {
  const words = new Map<string, string[]>();
  for (const command of commands)
    words.set(command.name, [...(words.get(command.name) ?? []), ...command.words.split(' ')]);
  return [...words].map(([name, all]) => [name, [...new Set(all)].join(' ')]);
}

const functionOf = (name: string): string => name.replaceAll('-', '_');

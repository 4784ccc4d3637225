import type { Command } from 'commander';

const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

export const isShell = (text: string): text is Shell => (shells as readonly string[]).includes(text);

/** A script for a shell that completes the names of commands and of their options. */
export function completionFor(shell: Shell, program: Command): string {
  const name = program.name();
  const optionsOf = (command: Command) => command.options.map(({ long }) => long!).join(' ');
  const commands = program.commands.map((command) => ({ name: command.name(), options: optionsOf(command) }));
  const names = commands.map((command) => command.name).join(' ');
  if (shell === 'fish')
    return [
      `complete -c ${name} -f -n __fish_use_subcommand -a '${names}'`,
      ...program.commands.flatMap((command) =>
        command.options.map(
          ({ long }) =>
            `complete -c ${name} -f -n '__fish_seen_subcommand_from ${command.name()}' -l ${long!.slice(2)}`,
        ),
      ),
      '',
    ].join('\n');
  const cases = commands.map((command) => `    ${command.name}) words="${command.options}" ;;`).join('\n');
  return `${shell === 'zsh' ? 'autoload -U +X bashcompinit && bashcompinit\n' : ''}_${functionOf(name)}() {
  local words="${names} ${optionsOf(program)}" at
  for at in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do case "$at" in
${cases}
  esac; done
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _${functionOf(name)} ${name}
`;
}

const functionOf = (name: string): string => name.replaceAll('-', '_');

import { type NameFunction, nameFunctions, type Parameter } from './name-functions.ts';
import { isNameVariable, type TemplateVariable } from './name-variables.ts';
import { TemplateError } from './template-error.ts';
import { type Token, tokenise } from './tokenise.ts';

/** The text that functions are applied to. */
export type Source = { kind: 'literal'; text: string } | { kind: 'variable'; name: TemplateVariable };

/** One part of a name: a source and the functions applied to it, in order. */
interface Part {
  source: Source;
  steps: readonly { name: string; args: readonly (string | number)[] }[];
}

export type NameTemplate = readonly Part[];

/** The variables and the functions that templates of one kind may use. */
export interface TemplateLanguage {
  isVariable(name: string): name is TemplateVariable;
  functions: ReadonlyMap<string, NameFunction>;
}

const ofNames: TemplateLanguage = { isVariable: isNameVariable, functions: nameFunctions };

const maxTemplateLength = 1024;

/**
 * Parses a template, by default one of names: literal text and actions such as `{{ .SecretPath | replace "/" "-" | lowercase }}`
 * or, with the same result, `{{ replace "/" "-" .SecretPath | lowercase }}`. Throws `TemplateError` with reason and position.
 */
export function parseTemplate(template: string, language: TemplateLanguage = ofNames): NameTemplate {
  if (template.length > maxTemplateLength) {
    throw new TemplateError(`the template is longer than ${maxTemplateLength} characters`);
  }
  return tokenise(template).map((section) =>
    section.kind === 'literal'
      ? { source: section, steps: [] }
      : parseAction(language, section.tokens, section.position),
  );
}

function parseAction(language: TemplateLanguage, tokens: readonly Token[], position: number): Part {
  const [first, ...rest] = splitAtPipes(tokens, position);
  const start = parseStart(language, first ?? [], position);
  const steps = rest.map((command) => parseStep(language, command));
  return { source: start.source, steps: [...start.steps, ...steps] };
}

function splitAtPipes(tokens: readonly Token[], position: number): Token[][] {
  const commands: Token[][] = [[]];
  for (const token of tokens) {
    if (token.kind !== 'pipe') commands.at(-1)?.push(token);
    else if (commands.at(-1)?.length === 0) throw new TemplateError('nothing before |', token.position);
    else commands.push([]);
  }
  if (commands.at(-1)?.length === 0) throw new TemplateError('an action is empty or ends in |', position);
  return commands;
}

/** The first command: a variable, a text, or a function whose last argument is the text that it is applied to. */
function parseStart(language: TemplateLanguage, command: readonly Token[], position: number): Part {
  const [head] = command;
  if (head?.kind !== 'word') {
    const [, extra] = command;
    if (extra) throw new TemplateError('only a function takes arguments; expected | or }}', extra.position);
    return { source: parseSource(language, head, position), steps: [] };
  }
  const last = command.at(-1);
  if (command.length < 2) {
    knownFunction(language, head);
    throw new TemplateError(`${head.text} has no text to apply to`, head.position);
  }
  return {
    source: parseSource(language, last, position),
    steps: [parseStep(language, command.slice(0, -1))],
  };
}

function parseSource({ isVariable }: TemplateLanguage, token: Token | undefined, position: number): Source {
  if (token?.kind === 'text') return { kind: 'literal', text: token.text };
  if (token?.kind !== 'variable')
    throw new TemplateError('expected a variable or a quoted text', token?.position ?? position);
  if (!isVariable(token.text)) throw new TemplateError(`unknown variable .${token.text}`, token.position);
  return { kind: 'variable', name: token.text };
}

function parseStep(language: TemplateLanguage, command: readonly Token[]): Part['steps'][number] {
  const [head, ...given] = command;
  const position = head?.position ?? 1;
  if (head?.kind !== 'word') throw new TemplateError('expected a function', position);
  const known = knownFunction(language, head);
  if (given.length !== known.parameters.length) {
    throw new TemplateError(
      `${head.text} takes ${argumentCount(known.parameters.length)}, not ${given.length}`,
      position,
    );
  }
  const args = known.parameters.map((parameter, index) => argument(head.text, parameter, given[index]));
  const refusal = known.refuse?.(args);
  if (refusal !== undefined) throw new TemplateError(`${head.text} ${refusal}`, position);
  return { name: head.text, args };
}

function knownFunction(
  { functions }: TemplateLanguage,
  { text, position }: { text: string; position: number },
): NameFunction {
  const known = functions.get(text);
  if (!known) throw new TemplateError(`unknown function ${text}`, position);
  return known;
}

const argumentCount = (count: number): string => (count === 1 ? '1 argument' : `${count} arguments`);

function argument(name: string, parameter: Parameter, token: Token | undefined): string | number {
  if (parameter === 'count' && token?.kind === 'count') return token.value;
  if (parameter === 'text' && token?.kind === 'text') return token.text;
  const wanted = parameter === 'count' ? 'a number' : 'a quoted text';
  throw new TemplateError(`${name} takes ${wanted} here`, token?.position);
}

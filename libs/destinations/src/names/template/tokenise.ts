import { TemplateError } from './template-error.ts';

/** A token of an action. `position` counts characters from 1 in the whole template. */
export type Token =
  | { kind: 'variable' | 'word' | 'text'; text: string; position: number }
  | { kind: 'count'; value: number; position: number }
  | { kind: 'pipe'; position: number };

/** A section of a template: literal text or an `{{ action }}`. */
export type Section =
  | { kind: 'literal'; text: string }
  | { kind: 'action'; tokens: Token[]; position: number };

const blank = /[ \t\r\n]+/y;
const variable = /\.([A-Za-z]+)/y;
const word = /[A-Za-z_][A-Za-z0-9_]*/y;
const count = /\d{1,6}/y;
const quoted = /"((?:[^"\\\n]|\\["\\])*)"/y;
const raw = /`([^`]*)`/y;
const tokenEnd = /[ \t\r\n|}]|$/y;

/** Splits a template into sections. Throws `TemplateError` for an action that is not closed or contains an invalid token. */
export function tokenise(template: string): Section[] {
  const sections: Section[] = [];
  let at = 0;
  while (at < template.length) {
    const open = template.indexOf('{{', at);
    const literal = template.slice(at, open < 0 ? undefined : open);
    if (literal.includes('}}')) throw new TemplateError('}} without {{', at + literal.indexOf('}}') + 1);
    if (literal !== '') sections.push({ kind: 'literal', text: literal });
    if (open < 0) break;
    const { tokens, end } = readAction(template, open + 2);
    sections.push({ kind: 'action', tokens, position: open + 1 });
    at = end;
  }
  return sections;
}

function readAction(template: string, from: number): { tokens: Token[]; end: number } {
  const tokens: Token[] = [];
  let at = from;
  while (at < template.length) {
    at += matchAt(blank, template, at)?.[0].length ?? 0;
    if (template.startsWith('}}', at)) return { tokens, end: at + 2 };
    const { token, end } = readToken(template, at);
    tokens.push(token);
    at = end;
  }
  throw new TemplateError('{{ is not closed by }}', from - 1);
}

function readToken(template: string, at: number): { token: Token; end: number } {
  const position = at + 1;
  if (template[at] === '|') return { token: { kind: 'pipe', position }, end: at + 1 };
  const found = firstOf(template, at);
  if (found === undefined) throw new TemplateError('unexpected character', position);
  const end = at + found.length;
  if (matchAt(tokenEnd, template, end) === undefined)
    throw new TemplateError('unexpected character', end + 1);
  return { token: found.token, end };
}

function firstOf(template: string, at: number): { token: Token; length: number } | undefined {
  const position = at + 1;
  const name = matchAt(variable, template, at);
  if (name) return { token: { kind: 'variable', text: name[1] ?? '', position }, length: name[0].length };
  const called = matchAt(word, template, at);
  if (called) return { token: { kind: 'word', text: called[0], position }, length: called[0].length };
  const digits = matchAt(count, template, at);
  if (digits)
    return { token: { kind: 'count', value: Number(digits[0]), position }, length: digits[0].length };
  const escaped = matchAt(quoted, template, at);
  if (escaped) {
    const text = (escaped[1] ?? '').replace(/\\(.)/g, '$1');
    return { token: { kind: 'text', text, position }, length: escaped[0].length };
  }
  const asIs = matchAt(raw, template, at);
  return asIs && { token: { kind: 'text', text: asIs[1] ?? '', position }, length: asIs[0].length };
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text) ?? undefined;
}

import { invalid } from '@secrets/domain';

export interface Token {
  /** A punctuation mark is its own kind. A `literal` is a number, a boolean or a heredoc. */
  kind: '{' | '}' | '[' | ']' | ',' | '=' | 'name' | 'string' | 'literal' | 'end';
  /** The text of a name or a string, or the value of a literal; empty at the end. */
  value: string | number | boolean;
  /** The index of its first character. */
  at: number;
}

const skipped = /[ \t\r\n]+|(?:#|\/\/)[^\n]*|\/\*[\s\S]*?\*\//y;
const name = /[\p{L}_][\p{L}\p{Nd}_.-]*/uy;
const number = /-?(?:0[xX][0-9a-fA-F]+|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)/y;
const heredoc = /<<(-?)([\p{L}\p{Nd}_]+)\n/uy;
const plain = /[^"\\\n$]+|\$(?!\{)/y;
const escapeSequence =
  /\\(?:([abfnrtv\\"])|([0-7]{3})|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))/y;
const betweenBraces = /[^{}]+/y;
const indentation = /[ \t\v\f\r]*/y;

const letters = 'abfnrtv\\"';
const meanings = '\x07\b\f\n\r\t\v\\"';

/**
 * Splits a text in HCL version 1 into tokens. Each pattern is tried where the last one ended and reads its characters once, so
 * the time is proportional to the text.
 */
export class HclScanner {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text.replaceAll('\r\n', '\n');
    if (this.#text.includes('\0')) this.fail('illegal character', this.#text.indexOf('\0'));
  }

  next(): Token {
    this.#skip();
    const at = this.#at;
    const character = this.#text[at];
    if (character === undefined) return { kind: 'end', value: '', at };
    if (isMark(character)) return { kind: character, value: this.#take(character), at };
    if (character === '"') return { kind: 'string', value: this.#string(), at };
    if (character === '<') return { kind: 'literal', value: this.#heredoc(), at };
    const [word] = this.#match(name) ?? [];
    if (word !== undefined) return wordAt(word, at);
    const [digits] = this.#match(number) ?? this.fail('illegal character');
    return { kind: 'literal', value: this.#number(digits, at), at };
  }

  /** Throws `invalid` with line and column. */
  fail(message: string, at = this.#at): never {
    const before = this.#text.slice(0, at).split('\n');
    throw invalid(`policy: line ${before.length}, column ${[...before.at(-1)!].length + 1}: ${message}`);
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text);
    if (match !== null) this.#at = pattern.lastIndex;
    return match;
  }

  #take(text: string): string {
    this.#at += text.length;
    return text;
  }

  /** Skips white space and comments. */
  #skip(): void {
    while (this.#match(skipped) !== null);
    if (this.#text.startsWith('/*', this.#at)) this.fail('comment not terminated');
  }

  #string(): string {
    const start = this.#at;
    const parts: string[] = [];
    for (this.#take('"'); this.#text[this.#at] !== '"'; ) {
      const [text] = this.#match(plain) ?? [];
      if (text !== undefined) parts.push(text);
      else if (this.#text[this.#at] === '\\') parts.push(this.#escape());
      else if (this.#text[this.#at] === '$') parts.push(this.#interpolation());
      else this.fail('string not terminated', start);
    }
    this.#take('"');
    return parts.join('');
  }

  #escape(): string {
    const [, letter, octal, byte, short, long] = this.#match(escapeSequence) ?? this.fail('illegal escape');
    if (letter !== undefined) return meanings[letters.indexOf(letter)]!;
    const code =
      octal === undefined ? Number.parseInt((byte ?? short ?? long)!, 16) : Number.parseInt(octal, 8);
    const isByte = octal !== undefined || byte !== undefined;
    if (code > (isByte ? 0x7f : 0x10ffff) || (code >= 0xd800 && code <= 0xdfff)) this.fail('illegal escape');
    return String.fromCodePoint(code);
  }

  /** Policies have no variables: `${…}` is text, in which quotes and backslashes have no meaning. */
  #interpolation(): string {
    const start = this.#at;
    let braces = 0;
    this.#take('$');
    do {
      this.#match(betweenBraces);
      const brace = this.#text[this.#at] ?? this.fail('string not terminated', start);
      braces += brace === '{' ? 1 : -1;
      this.#take(brace);
    } while (braces > 0);
    return this.#text.slice(start, this.#at);
  }

  /** The lines up to the one with the anchor. `<<-` removes the indentation of that line from all, if all have it. */
  #heredoc(): string {
    const start = this.#at;
    const [, dash, anchor] = this.#match(heredoc) ?? this.fail('illegal heredoc');
    const lines: string[] = [];
    for (;;) {
      const [indent] = this.#match(indentation)!;
      const end = this.#text.indexOf('\n', this.#at);
      if (end < 0) this.fail('heredoc not terminated', start);
      const line = this.#text.slice(this.#at, end);
      this.#at = end + 1;
      if (line === anchor) return withoutIndent(lines, dash ? indent : '');
      lines.push(indent + line);
    }
  }

  #number(digits: string, at: number): number {
    const isOctal = /^-?0\d+$/.test(digits);
    if (isOctal && /[89]/.test(digits)) this.fail('illegal octal number', at);
    const unsigned = digits.replace('-', '');
    const size = isOctal ? Number.parseInt(unsigned, 8) : Number(unsigned);
    const value = unsigned === digits ? size : -size;
    if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value)))
      this.fail('the number would lose digits: write a string', at);
    return value;
  }
}

const isMark = (character: string): character is '{' | '}' | '[' | ']' | ',' | '=' =>
  '{}[],='.includes(character);

const wordAt = (word: string, at: number): Token =>
  word === 'true' || word === 'false'
    ? { kind: 'literal', value: word === 'true', at }
    : { kind: 'name', value: word, at };

/** The lines of a heredoc. The indentation is removed only if all of them have it. */
function withoutIndent(lines: readonly string[], indent: string): string {
  const length = lines.every((line) => line.startsWith(indent)) ? indent.length : 0;
  return lines.map((line) => `${line.slice(length)}\n`).join('');
}

import { chunkBytes, type DeclaredBodyRules, declaredBody } from './declared-body.ts';
import { swapVerb, verbLetters } from './swapped-verb.ts';

export interface RequestFramingRules extends DeclaredBodyRules {
  /** Maximum size in bytes of a header block, and of a chunk-size or trailer line; a longer one is doubtful. */
  maxHeaderBytes: number;
}

type Part = 'between' | 'head' | 'body' | 'chunk-size' | 'chunk' | 'chunk-end' | 'trailers' | 'lost';

const headEnd = Buffer.from('\r\n\r\n');
const CR = 13;
const LF = 10;

/**
 * Follows the bytes of one connection from request to request (RFC 9112) and swaps `LIST` and `LINK` where a
 * request begins, never inside a body. It makes no decision about a request: once the framing is doubtful, it stays
 * lost and leaves every later byte unchanged, so that the server's parser remains the only authority.
 */
export class RequestFraming {
  readonly #rules: RequestFramingRules;
  #part: Part = 'between';
  #verbSeen = 0;
  #bytesLeft = 0;
  #text = ''; // an incomplete header block or line; kept only if it did not arrive in one piece

  constructor(rules: RequestFramingRules) {
    this.#rules = rules;
  }

  /** Processes the connection's next bytes and swaps verbs in place. Returns false once it is lost. */
  feed(bytes: Buffer): boolean {
    let at = 0;
    while (at < bytes.length && this.#part !== 'lost') at = this.#step(bytes, at);
    return this.#part !== 'lost';
  }

  #step(bytes: Buffer, at: number): number {
    switch (this.#part) {
      case 'between':
        return this.#between(bytes, at);
      case 'head':
        return this.#head(bytes, at);
      case 'body':
        return this.#skip(bytes, at, 'between');
      case 'chunk':
        return this.#skip(bytes, at, 'chunk-end');
      default:
        return this.#line(bytes, at);
    }
  }

  /** Empty lines before a request line are allowed (RFC 9112, section 2.2); the server's parser skips them too. */
  #between(bytes: Buffer, from: number): number {
    let at = from;
    while (bytes[at] === CR || bytes[at] === LF) at++;
    if (at === bytes.length) return at;
    this.#part = 'head';
    this.#verbSeen = 0;
    return this.#head(bytes, at);
  }

  #head(bytes: Buffer, at: number): number {
    if (this.#verbSeen < verbLetters) this.#verbSeen = swapVerb(bytes, at, this.#verbSeen);
    const end = this.#text === '' ? bytes.indexOf(headEnd, at) : -1;
    if (end < 0) return this.#headInPieces(bytes, at);
    this.#enterBody(end - at > this.#rules.maxHeaderBytes ? '' : bytes.toString('latin1', at, end));
    return end + headEnd.length;
  }

  #headInPieces(bytes: Buffer, at: number): number {
    const before = this.#text.length;
    this.#text += bytes.toString('latin1', at, this.#lastReadable(bytes, at));
    const end = this.#text.indexOf('\r\n\r\n', Math.max(0, before - headEnd.length + 1));
    if (end < 0) return this.#wait(bytes);
    this.#enterBody(this.#takeText().slice(0, end));
    return at + end + headEnd.length - before;
  }

  #enterBody(head: string): void {
    const body = declaredBody(head, this.#rules);
    if (body === 'doubtful') this.#part = 'lost';
    else if (body === 'chunked') this.#part = 'chunk-size';
    else this.#expect(body, 'body', 'between');
  }

  #expect(bytes: number, part: Part, ifNone: Part): void {
    this.#bytesLeft = bytes;
    this.#part = bytes > 0 ? part : ifNone;
  }

  #skip(bytes: Buffer, at: number, next: Part): number {
    const skipped = Math.min(this.#bytesLeft, bytes.length - at);
    this.#bytesLeft -= skipped;
    if (this.#bytesLeft === 0) this.#part = next;
    return at + skipped;
  }

  #line(bytes: Buffer, at: number): number {
    const end = bytes.indexOf(LF, at);
    this.#text += bytes.toString('latin1', at, end < 0 ? this.#lastReadable(bytes, at) : end);
    if (end < 0) return this.#wait(bytes);
    const line = this.#takeText();
    if (line.length <= this.#rules.maxHeaderBytes && /^[^\r]*\r$/.test(line))
      this.#afterLine(line.slice(0, -1));
    else this.#part = 'lost';
    return end + 1;
  }

  #afterLine(line: string): void {
    if (this.#part === 'chunk-size') this.#enterChunk(chunkBytes(line));
    else if (this.#part === 'chunk-end') this.#part = line === '' ? 'chunk-size' : 'lost';
    else if (line === '') this.#part = 'between';
    else if (/^[ \t]/.test(line)) this.#part = 'lost';
  }

  #enterChunk(bytes: number | undefined): void {
    if (bytes === undefined) this.#part = 'lost';
    else this.#expect(bytes, 'chunk', 'trailers');
  }

  #lastReadable(bytes: Buffer, at: number): number {
    return Math.min(bytes.length, at + this.#rules.maxHeaderBytes + headEnd.length + 1);
  }

  #wait(bytes: Buffer): number {
    if (this.#text.length > this.#rules.maxHeaderBytes + headEnd.length) this.#lose();
    return bytes.length;
  }

  #lose(): void {
    this.#text = '';
    this.#part = 'lost';
  }

  #takeText(): string {
    const text = this.#text;
    this.#text = '';
    return text;
  }
}

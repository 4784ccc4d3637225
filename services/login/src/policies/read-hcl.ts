import { Worker } from 'node:worker_threads';
import { invalid, Problem } from '@secrets/domain';
import pTimeout from 'p-timeout';

const timeoutMs = 5_000;
const maxNesting = 16;
const failure = 'unable to parse JSON: '; // the parser's prefix for a syntax error
const position = /^At (\d+):(\d+): (.*)$/s;

/**
 * Parses HCL version 1, in which policies are written, into plain values: a block becomes an array under its name. Runs in
 * a thread of its own, so that a large text does not block requests, is stopped after 5 s, and frees its memory
 * (docs/adr/0009-hcl-in-a-thread.md). Throws `invalid` with line and column if the text has a syntax
 * error, `rate_limited` if too many texts are waiting.
 */
export async function readHcl(text: string): Promise<unknown> {
  if (nesting(text) > maxNesting) throw unreadable();
  const answer = await inTurn(() => parseApart(text));
  if (!answer.startsWith(failure)) return JSON.parse(answer);
  const reason = answer.slice(failure.length);
  const [, line, column, cause] = position.exec(reason) ?? [];
  throw invalid(
    line === undefined ? `policy: ${reason}` : `policy: line ${line}, column ${column}: ${cause}`,
  );
}

const maxWaiting = 16;
let waiting = 0;
let last: Promise<unknown> = Promise.resolve();

/** One thread at a time: each needs about 40 MB. */
async function inTurn(work: () => Promise<string>): Promise<string> {
  if (waiting >= maxWaiting)
    throw new Problem('rate_limited', 'too many policies are being written', {
      retryAfterSeconds: 1,
    });
  waiting += 1;
  const turn = last.then(work).finally(() => {
    waiting -= 1;
  });
  last = turn.catch(() => undefined);
  return turn;
}

function parseApart(text: string): Promise<string> {
  const worker = new Worker(new URL('./hcl-worker.ts', import.meta.url), {
    workerData: text,
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 192 },
  });
  const parsed = new Promise<string>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', () => reject(unreadable()));
    worker.once('exit', () => reject(unreadable()));
  });
  const message = new Problem('invalid', 'policy: parsing took too long');
  return pTimeout(parsed, { milliseconds: timeoutMs, message }).finally(() => worker.terminate());
}

const unreadable = () => invalid('policy: nested too deeply or too large');

/**
 * The nesting depth of brackets. The parser recurses at each, and takes seconds to run out of stack. Reads each character
 * once; a regular expression could be made to backtrack.
 */
function nesting(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < text.length; at = afterToken(text, at)) {
    const character = text.charAt(at);
    if (character === '[' || character === '{') depth += 1;
    if (character === ']' || character === '}') depth -= 1;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

/** The index after the string, comment or character that begins at `at`. */
function afterToken(text: string, at: number): number {
  if (text[at] === '"') return afterString(text, at + 1);
  if (text[at] === '#' || text.startsWith('//', at)) return after(text, '\n', at);
  return text.startsWith('/*', at) ? after(text, '*/', at + 2) : at + 1;
}

/** A string ends at its closing quote, or without one at the end of its line. */
function afterString(text: string, from: number): number {
  let at = from;
  while (at < text.length && text[at] !== '"' && text[at] !== '\n') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

function after(text: string, end: string, from: number): number {
  const at = text.indexOf(end, from);
  return at < 0 ? text.length : at + end.length;
}

import { Worker } from 'node:worker_threads';
import { invalid, Problem } from '@secrets/domain';

const timeoutMs = 5_000;
const maxNesting = 16;
const failure = 'unable to parse JSON: '; // how the parser says that it could not read its input
const position = /^At (\d+):(\d+): (.*)$/s;

/**
 * Parses HCL (version 1, the grammar that policies of this kind have always been in) into plain values: a block is an
 * array under its name. In a thread of its own, so that a large text holds nobody up, is stopped after 5 s, and gives
 * its memory back. Throws a problem (`invalid`) that names line and column.
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

/** One thread at a time: each takes some 40 MB while it lives. */
async function inTurn(work: () => Promise<string>): Promise<string> {
  if (waiting >= maxWaiting)
    throw new Problem('rate_limited', 'too many policies are being written at once', {
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
  return new Promise<string>((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Problem('invalid', 'policy: took too long to read')),
      timeoutMs,
    );
    worker.once('message', resolve);
    worker.once('error', () => reject(unreadable()));
    worker.once('exit', () => {
      clearTimeout(timer);
      reject(unreadable());
    });
  }).finally(() => worker.terminate());
}

const unreadable = () => invalid('policy: is nested too deeply or too large to be read');

/**
 * How deep brackets stand in one another: the parser calls itself for each, and spends seconds on running out of stack.
 * Every character is looked at once, since a text may be made to have a regular expression look at it again and again.
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

/** Where the string, the comment or the character ends that begins at an index. */
function afterToken(text: string, at: number): number {
  if (text[at] === '"') return afterString(text, at + 1);
  if (text[at] === '#' || text.startsWith('//', at)) return after(text, '\n', at);
  return text.startsWith('/*', at) ? after(text, '*/', at + 2) : at + 1;
}

/** A string ends with its quote, or with its line when it has none. */
function afterString(text: string, from: number): number {
  let at = from;
  while (at < text.length && text[at] !== '"' && text[at] !== '\n') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

function after(text: string, end: string, from: number): number {
  const at = text.indexOf(end, from);
  return at < 0 ? text.length : at + end.length;
}

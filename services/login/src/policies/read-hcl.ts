import { Worker } from 'node:worker_threads';
import { invalid, Problem } from '@secrets/domain';
import pTimeout from 'p-timeout';
import { FairQueue } from './fair-queue.ts';

/** CPU time: a busy machine must not make a text unreadable. */
const maxCpuMs = 5_000;
const timeoutMs = 30_000;
const checkEveryMs = 250;
const maxNesting = 16;
const failure = 'unable to parse JSON: '; // the parser's prefix for a syntax error
const position = /^At (\d+):(\d+): (.*)$/s;

/**
 * Parses HCL version 1, in which policies are written, into plain values: a block becomes an array under its name. Runs in
 * a thread of its own, so that a large text does not block requests, is stopped after 5 s of CPU time, and frees its memory
 * (docs/adr/0009-hcl-in-a-thread.md). Namespaces take turns. Throws `invalid` with line and column if the text has a syntax
 * error, `rate_limited` if too many texts are waiting.
 */
export async function readHcl(text: string, namespaceId: string): Promise<unknown> {
  if (nesting(text) > maxNesting) throw unreadable();
  const answer = await turns.run(namespaceId, () => parseApart(text));
  if (!answer.startsWith(failure)) return requireContent(text, JSON.parse(answer) as object);
  const reason = answer.slice(failure.length);
  const [, line, column, cause] = position.exec(reason) ?? [];
  throw invalid(
    line === undefined ? `policy: ${reason}` : `policy: line ${line}, column ${column}: ${cause}`,
  );
}

/** The parser ignores a name with nothing after its equals sign: nothing is left of a text that is no policy. */
function requireContent(text: string, tree: object): object {
  if (Object.keys(tree).length > 0 || isBlank(text)) return tree;
  throw invalid('policy: contains no path');
}

/** Whether a text consists of white space and comments. */
function isBlank(text: string): boolean {
  for (let at = 0; at < text.length; at = afterToken(text, at))
    if (!/\s/.test(text.charAt(at)) && !/^(?:#|\/\/|\/\*)/.test(text.slice(at, at + 2))) return false;
  return true;
}

/** One thread at a time: each needs about 40 MB. */
const turns = new FairQueue();

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
  const limited = new Promise<never>((_, reject) => {
    worker.once('online', () => whenUsed(worker, maxCpuMs, () => reject(tookTooLong())));
  });
  const result = Promise.race([parsed, limited]);
  return pTimeout(result, { milliseconds: timeoutMs, message: tookTooLong() }).finally(() =>
    worker.terminate(),
  );
}

/** Calls back once a thread has used so much CPU time. Stops when the thread ends. */
function whenUsed(worker: Worker, cpuMs: number, exceeded: () => void): void {
  const timer = setInterval(async () => {
    const used = await worker.cpuUsage().catch(() => undefined); // the thread has ended
    if (used !== undefined && (used.user + used.system) / 1_000 > cpuMs) exceeded();
  }, checkEveryMs);
  worker.once('exit', () => clearInterval(timer));
}

const tookTooLong = () => new Problem('invalid', 'policy: parsing took too long');

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

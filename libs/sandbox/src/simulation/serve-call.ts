import type { Response } from 'express';
import type { FaultBoard } from '../faults/fault-injector.ts';
import type { Fault } from '../faults/fault-spec.ts';
import type { CallLog, LoggedCall } from './call-log.ts';
import type { Answer, Dialect } from './http-response.ts';

const LONGEST_SILENCE_MS = 600_000;

/** What a simulated service brings to each of its calls. */
export interface Desk {
  store: string;
  faults: FaultBoard;
  calls: CallLog;
  now: () => number;
}

/** The call as far as the sandbox needs to know it to aim faults and to log it. */
export type Call = Pick<LoggedCall, 'operation' | 'name' | 'region' | 'caller' | 'sent'>;

type Perform = (conditions: { staleMs: number }) => Answer | Promise<Answer>;

/**
 * Carries one call through the faults that wait for it, performs it unless one of them forbids, answers and logs.
 * `perform` answers its own refusals; what it throws becomes the dialect's server error.
 */
export async function exchange(
  desk: Desk,
  dialect: Dialect,
  call: Call,
  response: Response,
  perform: Perform,
) {
  const { delayMs, staleMs, ending } = desk.faults.meet(call.operation, call.name);
  const log = (outcome: LoggedCall['outcome']) =>
    desk.calls.record({
      at: new Date(desk.now()).toISOString(),
      store: desk.store,
      ...call,
      outcome,
      fault: ending?.effect ?? (delayMs > 0 ? 'slow' : undefined),
    });
  if (delayMs > 0 && !(await waited(delayMs, response))) return log('abandoned');
  const act = () => performed(perform, staleMs, dialect);
  if (ending && isDisconnection(ending)) return log(await disconnect(ending, response, act));
  const answer = ending ? spoil(ending, dialect) : await act();
  log(answer.status);
  send(response, answer);
}

/** Writes an answer; nothing happens when the other side has gone. */
export function send(response: Response, answer: Answer): void {
  if (response.destroyed) return;
  response.writeHead(answer.status, { ...answer.headers, 'content-length': Buffer.byteLength(answer.body) });
  response.end(answer.body);
}

async function performed(perform: Perform, staleMs: number, dialect: Dialect): Promise<Answer> {
  try {
    return await perform({ staleMs });
  } catch {
    return dialect.serverError();
  }
}

type Disconnection = Extract<Fault, { effect: 'silence' | 'reset' | 'act-then-die' }>;

function isDisconnection(fault: Fault): fault is Disconnection {
  return fault.effect === 'silence' || fault.effect === 'reset' || fault.effect === 'act-then-die';
}

async function disconnect(fault: Disconnection, response: Response, act: () => Promise<Answer>) {
  if (fault.effect === 'silence') {
    response.setTimeout(LONGEST_SILENCE_MS, () => response.destroy());
    return 'silence';
  }
  if (fault.effect === 'act-then-die') await act();
  response.socket?.resetAndDestroy();
  return fault.effect === 'reset' ? 'reset' : 'lost';
}

function spoil(fault: Exclude<Fault, Disconnection>, dialect: Dialect): Answer {
  switch (fault.effect) {
    case 'throttle':
    case 'rate-limit':
      return dialect.throttled(fault.retryAfterSeconds);
    case 'error':
      return dialect.failure(fault.status, fault.code, fault.message ?? 'The sandbox was told to answer so.');
    case 'refuse-signature':
      return dialect.signatureRefused();
    case 'garbage':
      return {
        status: 200,
        headers: { 'content-type': 'text/html' },
        body: '<html>\u0000not what was asked {{{',
      };
    case 'huge':
      return { status: 200, headers: { 'content-type': 'application/json' }, body: huge(fault.bytes) };
    case 'redirect':
      return {
        status: 302,
        headers: { location: fault.location ?? 'http://127.0.0.1:9/elsewhere' },
        body: '',
      };
    default:
      return dialect.serverError();
  }
}

function huge(bytes: number): string {
  return `{"padding":"${' '.repeat(Math.max(0, bytes - 14))}"}`;
}

function waited(ms: number, response: Response): Promise<boolean> {
  return new Promise((resolve) => {
    const gone = () => {
      clearTimeout(timer);
      resolve(false);
    };
    const timer = setTimeout(() => {
      response.off('close', gone);
      resolve(true);
    }, ms);
    response.once('close', gone);
  });
}

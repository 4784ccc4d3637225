import { setTimeout as sleep } from 'node:timers/promises';
import type { Response } from 'express';
import type { FaultInjector, Lag } from '../faults/fault-injector.ts';
import type { Fault } from '../faults/fault-spec.ts';
import type { CallLog, LoggedCall } from './call-log.ts';
import { type ErrorResponses, type HttpResponse, jsonResponse, sendResponse } from './http-response.ts';

const MAX_SILENCE_MS = 600_000;

/** Dependencies that a simulated service provides for each of its calls. */
export interface CallContext {
  store: string;
  faults: FaultInjector;
  calls: CallLog;
  now: () => number;
  errors: ErrorResponses;
}

/** The properties of a call by which the sandbox matches faults, and which it logs. */
export type Call = Pick<LoggedCall, 'operation' | 'name' | 'region' | 'caller' | 'sent'>;

type Perform = (lag: Lag) => HttpResponse | Promise<HttpResponse>;

/**
 * Handles one call: applies the faults that match it, performs it unless a fault replaces the response, responds, and
 * logs the outcome. `perform` throws the service's own errors; any other error becomes a server error.
 */
export async function serveCall(
  context: CallContext,
  call: Call,
  response: Response,
  perform: Perform,
): Promise<void> {
  const began = new Date(context.now()).toISOString();
  const { concurrent, end } = context.calls.begin(call.name);
  try {
    const peer = response.req.socket.remoteAddress;
    await serve(context, { ...call, began, peer, concurrent }, response, perform);
  } finally {
    end();
  }
}

async function serve(
  context: CallContext,
  call: Call & Pick<LoggedCall, 'began' | 'peer' | 'concurrent'>,
  response: Response,
  perform: Perform,
): Promise<void> {
  const { delayMs, lag, override } = context.faults.apply(call.operation, call.name);
  const log = (outcome: LoggedCall['outcome']) =>
    context.calls.record({
      at: new Date(context.now()).toISOString(),
      store: context.store,
      ...call,
      outcome,
      fault: override?.effect ?? (delayMs > 0 ? 'slow' : undefined),
    });
  if (delayMs > 0 && !(await delay(delayMs, response))) return log('abandoned');
  const act = () => performOrFail(perform, lag, context.errors);
  if (override && isDisconnection(override)) return log(await disconnect(override, response, act));
  const result = override
    ? await overridden(override, { response, act, errors: context.errors })
    : await act();
  if (result === undefined) return log('abandoned');
  log(result.status);
  sendResponse(response, result);
}

async function performOrFail(perform: Perform, lag: Lag, errors: ErrorResponses): Promise<HttpResponse> {
  try {
    return await perform(lag);
  } catch (error) {
    return errors.own?.(error) ?? errors.serverError();
  }
}

type Disconnection = Extract<Fault, { effect: 'silence' | 'reset' | 'act-then-die' }>;

function isDisconnection(fault: Fault): fault is Disconnection {
  return fault.effect === 'silence' || fault.effect === 'reset' || fault.effect === 'act-then-die';
}

async function disconnect(fault: Disconnection, response: Response, act: () => Promise<HttpResponse>) {
  if (fault.effect === 'silence') {
    response.setTimeout(MAX_SILENCE_MS, () => response.destroy());
    return 'silence';
  }
  if (fault.effect === 'act-then-die') await act();
  response.socket?.resetAndDestroy();
  return fault.effect === 'reset' ? 'reset' : 'lost';
}

interface Answering {
  response: Response;
  act: () => Promise<HttpResponse>;
  errors: ErrorResponses;
}

/** Returns undefined if the client disconnects before the response is due. */
async function overridden(
  fault: Exclude<Fault, Disconnection>,
  { response, act, errors }: Answering,
): Promise<HttpResponse | undefined> {
  if (fault.effect !== 'act-then-fail' && fault.effect !== 'act-then-wait')
    return faultResponse(fault, errors);
  const result = await act();
  if (fault.effect === 'act-then-fail') return errors.serverError();
  return (await delay(fault.ms, response)) ? result : undefined;
}

function faultResponse(fault: Exclude<Fault, Disconnection>, errors: ErrorResponses): HttpResponse {
  switch (fault.effect) {
    case 'throttle':
    case 'rate-limit':
      return errors.throttled(fault.retryAfterSeconds);
    case 'error':
      return errors.error(fault.status, fault.code, fault.message ?? 'Error injected by the sandbox.');
    case 'refuse-signature':
      return errors.invalidSignature();
    case 'garbage':
      return {
        status: 200,
        headers: { 'content-type': 'text/html' },
        body: '<html>\u0000not the expected content {{{',
      };
    case 'huge':
      return { status: 200, headers: { 'content-type': 'application/json' }, body: paddedJson(fault.bytes) };
    case 'redirect':
      return {
        status: fault.status,
        headers: { location: fault.location ?? 'http://127.0.0.1:9/elsewhere' },
        body: '',
      };
    case 'many-headers':
      return jsonResponse(200, {}, manyHeaders(fault.lines));
    case 'deep':
      return {
        ...jsonResponse(200, {}),
        body: `{"deep":${'['.repeat(fault.levels)}${']'.repeat(fault.levels)}}`,
      };
    case 'empty':
      return { status: 204, headers: {}, body: '' };
    case 'cut-off':
      return { ...jsonResponse(200, {}), body: '{"padding":"', isCutOff: true };
    default:
      return errors.serverError();
  }
}

/** A JSON object of `bytes` bytes, 14 at least. */
function paddedJson(bytes: number): string {
  return `{"padding":"${' '.repeat(Math.max(0, bytes - 14))}"}`;
}

const manyHeaders = (lines: number) =>
  Object.fromEntries(Array.from({ length: lines }, (_, index) => [`x-${index}`, 'x']));

/** Waits; returns false as soon as the client disconnects. */
async function delay(ms: number, response: Response): Promise<boolean> {
  const disconnected = new AbortController();
  const abort = () => disconnected.abort();
  response.once('close', abort);
  try {
    await sleep(ms, undefined, { signal: disconnected.signal });
    return true;
  } catch {
    return false;
  } finally {
    response.off('close', abort);
  }
}

import { randomUUID } from 'node:crypto';
import { errorCode } from '../../../libs/domain/src/index.ts';
import { type Answer, send } from '../../harness/http.ts';
import type { Act, Operation, Outcome } from './operation.ts';

/** Where requests are sent. */
export interface Gateway {
  name: string;
  url: string;
}

interface Sent {
  client: string;
  gateway: Gateway;
  token: string;
  method: string;
  path: string;
  body?: unknown;
  /** What the response shows about the operation. */
  learn?: (answer: Answer) => Partial<Act>;
}

/** Nothing was sent. */
const refusedConnection = 'ECONNREFUSED';

/** A 4xx has no effect. Everything else that is no success may have had one. */
function outcomeOf(status: number): Outcome {
  if (status >= 200 && status < 300) return 'ok';
  return status >= 400 && status < 500 ? 'failed' : 'unknown';
}

/** Sends the requests of the load and records each one with its outcome. */
export class Recorder {
  readonly history: Operation[] = [];
  /** Bodies of responses that are no success, each one once. */
  readonly errorBodies = new Set<string>();

  async run(act: Act, { client, gateway, token, method, path, body, learn }: Sent): Promise<Operation> {
    const id = randomUUID();
    const invokedAt = performance.now();
    const headers = { 'x-service-token': token, 'x-request-id': id };
    const record = (outcome: Outcome, status: number, learnt: Partial<Act> = {}) => {
      const ended = { invokedAt, endedAt: performance.now(), outcome, status };
      const operation = { ...act, ...learnt, id, client, gateway: gateway.name, ...ended } as Operation;
      this.history.push(operation);
      return operation;
    };
    try {
      const answer = await send(`${gateway.url}/v1/${path}`, method, { headers, body });
      // Nothing is there: that is what the read has found.
      const outcome = act.act === 'read' && answer.status === 404 ? 'ok' : outcomeOf(answer.status);
      if (outcome !== 'ok') this.errorBodies.add(JSON.stringify(answer.body) ?? '');
      return record(outcome, answer.status, outcome === 'ok' ? learn?.(answer) : {});
    } catch (error) {
      return record(errorCode(error) === refusedConnection ? 'failed' : 'unknown', 0);
    }
  }
}

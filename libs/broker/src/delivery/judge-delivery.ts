import { errorCode } from '@secrets/domain';
import pTimeout from 'p-timeout';
import { type BrokerLog, deliveryLimit, type MessageHandler, type Verdict } from '../broker.ts';

export interface Delivery {
  queue: string;
  messageId: string;
  text: string;
  /** Including this one. */
  deliveries: number;
  traceparent?: string | null | undefined;
}

export interface JudgeOptions {
  handlerTimeoutMs: number;
  log: BrokerLog;
}

/**
 * Runs the handler on one delivery and returns the verdict. Never throws: a handler that throws or times out means
 * `requeue`. A message that is not JSON, or that was requeued too often, is dead-lettered.
 */
export async function judgeDelivery(
  handler: MessageHandler,
  delivery: Delivery,
  options: JudgeOptions,
): Promise<Verdict> {
  const { queue, messageId, deliveries, traceparent } = delivery;
  const fields = { queue, messageId, deliveries };
  const message = decode(delivery.text);
  if (message === undefined) {
    options.log.error(fields, 'message dead-lettered: not JSON');
    return 'dead-letter';
  }
  const verdict = await runHandler(
    () => handler(message, { deliveries, messageId, traceparent }),
    fields,
    options,
  );
  if (verdict !== 'requeue' || deliveries < deliveryLimit) return verdict;
  options.log.error(fields, 'message dead-lettered: delivery limit reached');
  return 'dead-letter';
}

/** Returns undefined, which JSON cannot express, for a text that is not JSON. */
function decode(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

async function runHandler(
  run: () => Promise<Verdict>,
  fields: object,
  { handlerTimeoutMs, log }: JudgeOptions,
): Promise<Verdict> {
  const requeueLate = (): Verdict => {
    log.error(fields, 'message handler timed out');
    return 'requeue';
  };
  try {
    return await pTimeout(run(), { milliseconds: handlerTimeoutMs, fallback: requeueLate });
  } catch (error) {
    log.error({ ...fields, ...faultFields(error) }, 'message handler threw');
    return 'requeue';
  }
}

/** An error's name, code and first stack frame. Not its message, which may quote a secret value. */
function faultFields(error: unknown): object {
  const { name, stack } = Object(error) as { name?: unknown; stack?: unknown };
  const place =
    typeof stack === 'string' ? stack.split('\n').find((line) => /^\s+at /.test(line)) : undefined;
  return { fault: String(name ?? 'unknown'), code: errorCode(error), place: place?.trim() };
}

import { errorCode } from '@secrets/domain';
import { type BrokerLog, deliveryLimit, type MessageHandler, type Verdict } from './broker.ts';

export interface Delivery {
  queue: string;
  messageId: string;
  text: string;
  /** This time included. */
  deliveries: number;
}

export interface JudgeOptions {
  handlerTimeoutMs: number;
  log: BrokerLog;
}

/**
 * Runs the handler on one delivery and returns the verdict. Never throws: a handler that throws or is late means
 * `requeue`. What cannot be decoded, or was requeued too often, is dead-lettered.
 */
export async function judgeDelivery(
  handler: MessageHandler,
  delivery: Delivery,
  options: JudgeOptions,
): Promise<Verdict> {
  const { queue, messageId, deliveries } = delivery;
  const fields = { queue, messageId, deliveries };
  const message = decode(delivery.text);
  if (message === undefined) {
    options.log.error(fields, 'message dead-lettered: it is not JSON');
    return 'dead-letter';
  }
  const verdict = await runHandler(() => handler(message, { deliveries, messageId }), fields, options);
  if (verdict !== 'requeue' || deliveries < deliveryLimit) return verdict;
  options.log.error(fields, 'message dead-lettered: it was delivered too often');
  return 'dead-letter';
}

/** JSON has no undefined, so that can stand for a text that is none. */
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
  options: JudgeOptions,
): Promise<Verdict> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Verdict>((resolve) => {
    timer = setTimeout(() => {
      options.log.error(fields, 'message handler did not end in time');
      resolve('requeue');
    }, options.handlerTimeoutMs);
  });
  try {
    return await Promise.race([run(), late]);
  } catch (error) {
    options.log.error({ ...fields, ...faultFields(error) }, 'message handler threw');
    return 'requeue';
  } finally {
    clearTimeout(timer);
  }
}

/** Name, code and place of an error; not its message, which may quote what must not be logged. */
function faultFields(error: unknown): object {
  const { name, stack } = Object(error) as { name?: unknown; stack?: unknown };
  const place =
    typeof stack === 'string' ? stack.split('\n').find((line) => /^\s+at /.test(line)) : undefined;
  return { fault: String(name ?? 'unknown'), code: errorCode(error), place: place?.trim() };
}

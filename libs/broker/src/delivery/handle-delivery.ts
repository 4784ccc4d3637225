import { errorCode, Problem, parsedJson } from '@secrets/domain';
import pTimeout from 'p-timeout';
import { type BrokerLog, deliveryLimit, type MessageHandler, type Verdict } from '../broker.ts';
import type { WaitingMessages } from './waiting-messages.ts';

export interface Delivery {
  queue: string;
  messageId: string;
  text: string;
  /** Including this one. */
  deliveries: number;
  traceparent?: string | null | undefined;
}

/** A verdict; or `wait`: something that the handler needs is away, so it runs again later, and this is no other delivery. */
export type Outcome = Verdict | 'wait';

export interface HandleDeliveryOptions {
  handlerTimeoutMs: number;
  log: BrokerLog;
  /** Those of the queue. */
  waiting: WaitingMessages;
}

/**
 * Runs the handler on one delivery and returns the outcome. Never throws: a handler that throws `unavailable` means `wait`,
 * however often, because an outage is no fault of the message; one that throws anything else or times out means `requeue`. A
 * message that is not JSON, or that was requeued too often, is dead-lettered.
 */
export async function handleDelivery(
  handler: MessageHandler,
  delivery: Delivery,
  options: HandleDeliveryOptions,
): Promise<Outcome> {
  const { queue, messageId, deliveries, traceparent } = delivery;
  const fields = { queue, messageId, deliveries };
  const message = parsedJson(delivery.text);
  if (message === undefined) {
    options.log.error(fields, 'message dead-lettered: not JSON');
    return 'dead-letter';
  }
  const verdict = await runHandler(
    () => handler(message, { deliveries, messageId, traceparent }),
    fields,
    options,
  );
  if (verdict !== 'wait') options.waiting.handled(messageId, { queue });
  if (verdict !== 'requeue' || deliveries < deliveryLimit) return verdict;
  options.log.error(fields, 'message dead-lettered: delivery limit reached');
  return 'dead-letter';
}

async function runHandler(
  run: () => Promise<Verdict>,
  fields: Pick<Delivery, 'queue' | 'messageId' | 'deliveries'>,
  { handlerTimeoutMs, log, waiting }: HandleDeliveryOptions,
): Promise<Outcome> {
  const requeueLate = (): Verdict => {
    log.error(fields, 'message handler timed out');
    return 'requeue';
  };
  try {
    return await pTimeout(run(), { milliseconds: handlerTimeoutMs, fallback: requeueLate });
  } catch (error) {
    if (error instanceof Problem && error.kind === 'unavailable') {
      waiting.add(fields.messageId, { ...fields, ...faultFields(error) });
      return 'wait';
    }
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

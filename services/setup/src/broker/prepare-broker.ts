import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '@secrets/telemetry';
import { brokerDefinitions } from './broker-definitions.ts';
import type { BrokerService } from './broker-rights.ts';

const pauseMs = 500;
const answerTimeoutMs = 30_000;

/**
 * Waits for RabbitMQ, gives each service its user with exactly the rights of `brokerRights`, and makes the queues. May
 * run at any time, beside running services; a queue that is there stays as it is.
 *
 * `url` is that of the management API, with an administrator's name and password. Throws when it refuses.
 */
export async function prepareBroker(
  url: string,
  passwords: Record<BrokerService, string>,
  log: Logger,
): Promise<void> {
  const send = importOf(url, JSON.stringify(brokerDefinitions(passwords)));
  for (let attempt = 1; ; attempt += 1) {
    const status = await send();
    if (status !== undefined && status < 300) return;
    if (status === 401)
      throw new Error(
        'RabbitMQ does not know the administrator: it keeps the users of its first start; it holds nothing that is not announced again, so its volume may be removed',
      );
    if (status !== undefined && status < 500)
      throw new Error(`RabbitMQ refuses the definitions: HTTP ${status}`);
    if (attempt === 1) log.info('waiting for the management API of RabbitMQ');
    await sleep(pauseMs);
  }
}

/** Sends definitions, and gives the status of the answer; undefined when there was none. */
function importOf(url: string, body: string): () => Promise<number | undefined> {
  const { username, password, origin } = new URL(url);
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  const headers = { authorization, 'content-type': 'application/json' };
  return async () => {
    const signal = AbortSignal.timeout(answerTimeoutMs);
    try {
      const answer = await fetch(`${origin}/api/definitions`, {
        method: 'POST',
        headers,
        body,
        redirect: 'error',
        signal,
      });
      await answer.body?.cancel();
      return answer.status;
    } catch {
      return undefined;
    }
  };
}

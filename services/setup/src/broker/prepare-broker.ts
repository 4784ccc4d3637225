import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '@secrets/telemetry';
import { brokerDefinitions } from './broker-definitions.ts';
import type { BrokerService } from './broker-rights.ts';

const pauseMs = 500;
const answerTimeoutMs = 30_000;

/**
 * Waits for RabbitMQ, creates each service's user with exactly the permissions of `brokerRights`, and creates the queues.
 * May run at any time, while the services run. Existing queues are not changed.
 *
 * @param url The management API, with an administrator's name and password.
 * @throws if RabbitMQ refuses the password or the definitions
 */
export async function prepareBroker(
  url: string,
  passwords: Record<BrokerService, string>,
  log: Logger,
): Promise<void> {
  const importDefinitions = importer(url, JSON.stringify(brokerDefinitions(passwords)));
  for (let attempt = 1; ; attempt += 1) {
    const status = await importDefinitions();
    if (status !== undefined && status < 300) return;
    if (status === 401)
      throw new Error(
        'RabbitMQ refuses the administrator: it keeps the users of its first start. Its volume can be removed, because entries and changes are announced again',
      );
    if (status !== undefined && status < 500)
      throw new Error(`RabbitMQ refuses the definitions with HTTP ${status}`);
    if (attempt === 1) log.info('waiting for the RabbitMQ management API');
    await sleep(pauseMs);
  }
}

/** Returns a function that sends the definitions and returns the status of the response, or undefined if there was none. */
function importer(url: string, body: string): () => Promise<number | undefined> {
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

import { Refused } from '../api.ts';
import { type Context, queryOf, type Verdict } from '../command.ts';

interface Arrival {
  version: number;
  missing: string[];
  associated_destinations: Record<string, { sync_status: string }>;
}

const maxWaitSeconds = 30;

/**
 * Waits until a version of a secret, by default the newest, has arrived in every destination. False if it has not in time, or
 * has failed in a way that only a change can repair.
 */
export async function wait(context: Context, options: WaitOptions): Promise<Verdict> {
  try {
    return await arrival(context, options);
  } catch (error) {
    if (!(error instanceof Refused) || error.status !== failedForGood) throw error;
    context.output.note(error.message);
    return false;
  }
}

const failedForGood = 409;

interface WaitOptions {
  mount: string;
  secret: string;
  version?: number | undefined;
  timeoutSeconds: number;
}

async function arrival({ api, output, sleep }: Context, options: WaitOptions): Promise<Verdict> {
  const { mount, secret, version, timeoutSeconds } = options;
  const deadline = performance.now() + timeoutSeconds * 1_000;
  let said = '';
  for (;;) {
    const left = Math.max(0, Math.ceil((deadline - performance.now()) / 1_000));
    const waited = `${Math.min(left, maxWaitSeconds)}s`;
    const query = queryOf({ mount, secret_name: secret, version, wait: waited });
    const answer = await api
      .call<Arrival>('GET', `sys/sync/associations/destinations${query}`)
      .catch(busyFor(left));
    if (answer === undefined) {
      await sleep(1_000);
      continue;
    }
    const { data, warnings } = answer;
    const count = Object.keys(data.associated_destinations).length;
    if (data.missing.length === 0) {
      output.object(
        data,
        `version ${data.version} of ${mount}/${secret} has arrived in ${count} destinations`,
      );
      return true;
    }
    const state = `version ${data.version} of ${mount}/${secret} is missing in ${data.missing.join(', ')}`;
    if (left === 0) {
      output.object(data, `${state} after ${timeoutSeconds} s`);
      return false;
    }
    for (const sentence of said === state ? [] : [state, ...warnings]) output.note(sentence);
    said = state;
    await sleep(200);
  }
}

/** Answers after which the same request may succeed: the service stops, is down, or has too many that wait. */
const busy = [429, 503];

/** Returns nothing for an answer after which there is time to ask again. */
const busyFor = (secondsLeft: number) => (error: unknown) => {
  if (error instanceof Refused && busy.includes(error.status) && secondsLeft > 0) return undefined;
  throw error;
};

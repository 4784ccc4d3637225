import { Problem } from '@secrets/domain';
import { type Check, check } from '../../roles/check.ts';
import type { Provider } from '../provider/provider.ts';
import { type Attempt, assess } from './assess.ts';
import { type LookupResults, lookUp } from './lookup.ts';
import type { ProvenPlace } from './place-bounds.ts';

/** The outcome of a login: the first check that failed, or where the principal runs, if the role binds that. */
export type Decision = { refusal: Check } | { refusal?: undefined; place: ProvenPlace | undefined };

/**
 * Decides about a login, and looks up what that needs. A check that fails ends it, so that no lookup follows. Throws what the
 * provider throws.
 * @param provider called once, and only if something is to be looked up: its time is limited
 */
export async function decide(attempt: Attempt, provider: () => Provider): Promise<Decision> {
  const shared = once(provider);
  for (let found: LookupResults = {}; ; ) {
    const { checks, next, place } = assess(attempt, found);
    const refusal = checks.find(({ passed }) => !passed);
    if (refusal !== undefined) return { refusal };
    if (next === undefined) return { place };
    found = await lookUp(shared(), next, found);
  }
}

/** Makes every check of a login that can be made, also after one has failed. A failed lookup is a failed check. */
export async function allChecks(attempt: Attempt, provider: () => Provider): Promise<Check[]> {
  const shared = once(provider);
  for (let found: LookupResults = {}; ; ) {
    const { checks, next } = assess(attempt, found);
    if (next === undefined) return checks;
    const answer = await lookUp(shared(), next, found).catch(asFailedCheck);
    if ('check' in answer) return [...checks, answer];
    found = answer;
  }
}

function once(provider: () => Provider): () => Provider {
  let created: Provider | undefined;
  return () => {
    created ??= provider();
    return created;
  };
}

function asFailedCheck(error: unknown): Check {
  if (!(error instanceof Problem)) throw error;
  return check("the provider's API answers", 'request', error.sentences[0] ?? error.kind);
}

import { Problem } from '@secrets/domain';
import type { CloudBContext } from '../cloudb-context.ts';
import { type Decision, decide } from '../decision/decide.ts';
import { tokenPlace } from '../decision/token-place.ts';
import type { DirectoryClaims } from '../directory/claims.ts';
import type { ReadyTarget } from '../queries/login-target.ts';
import { attemptOf } from './attempt.ts';
import type { LoginRequest } from './login-request.ts';

type Guess = ReturnType<CloudBContext['guesses']['begin']>;

/** Decides about a login. Throws what the provider throws, and `rate_limited` for a principal that guesses where it runs. */
export async function decideLogin(
  { db, guesses, providers }: CloudBContext,
  target: ReadyTarget,
  request: LoginRequest,
  claims: DirectoryClaims,
): Promise<Decision> {
  let guess: Guess | undefined;
  const provider = () => {
    if (tokenPlace(claims).kind === 'none') guess = guesses.begin(target.mountId, claims.oid);
    return providers.of(target);
  };
  try {
    const decision = await decide(attemptOf(target, claims, request, new Date(db.now())), provider);
    if (decision.refusal === undefined) guess?.forget();
    return decision;
  } catch (error) {
    if (error instanceof Problem && error.kind === 'unavailable') guess?.forget();
    throw error;
  }
}

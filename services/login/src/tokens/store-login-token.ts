import { batched, type Db, isUnavailable } from '@secrets/db';
import { insertLoginTokens, type LoginToken } from '../queries/tokens/batched-login-tokens.ts';
import { insertLoginToken, type LoginOwner } from '../queries/tokens/login-tokens.ts';

/**
 * Stores the token of a login. Undefined under the conditions of `insertLoginToken`. Throws the problem `unavailable`
 * if the database did not respond.
 */
export type StoreLoginToken = (login: LoginToken) => Promise<LoginOwner | undefined>;

/** With more groups, a login is a statement of its own, so that it does not slow down others. */
const maxGroups = 20;

/** Creates a function that stores the tokens of concurrent logins in one statement, where that is possible. */
export function storingLoginTokens(db: Db): StoreLoginToken {
  const storeAlone = ({ token, identity }: LoginToken) => insertLoginToken(db, token, identity);
  // If the database did not respond, the tokens may have been stored, so they must not be stored again.
  const store = batched((logins) => insertLoginTokens(db, logins), storeAlone, isUnavailable);
  return (login) => ((login.identity.groups?.length ?? 0) > maxGroups ? storeAlone(login) : store(login));
}

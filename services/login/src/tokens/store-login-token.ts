import { batched, type Db } from '@secrets/db';
import { Problem } from '@secrets/domain';
import { insertLoginTokens, type LoginToken } from '../queries/batched-login-tokens.ts';
import { insertLoginToken, type LoginOwner } from '../queries/login-tokens.ts';

/**
 * Stores the token of a login. Undefined under the conditions of `insertLoginToken`. Throws the problem `unavailable` if the database
 * did not respond.
 */
export type StoreLoginToken = (login: LoginToken) => Promise<LoginOwner | undefined>;

/** With more groups, a login is a statement of its own, so that it does not slow down others. */
const maxGroups = 20;

/** Creates a function that stores the tokens of concurrent logins in one statement, where that is possible. */
export function storingLoginTokens(db: Db): StoreLoginToken {
  const storeAlone = ({ token, identity }: LoginToken) => insertLoginToken(db, token, identity);
  const store = batched<LoginToken, LoginOwner | Problem | undefined>(
    (logins) =>
      insertLoginTokens(db, logins).catch((error: unknown) => {
        // The tokens may have been stored, so they must not be stored again.
        if (error instanceof Problem) return logins.map(() => error);
        throw error;
      }),
    storeAlone,
  );
  return async (login) => {
    if ((login.identity.groups?.length ?? 0) > maxGroups) return storeAlone(login);
    const owner = await store(login);
    if (owner instanceof Problem) throw owner;
    return owner;
  };
}

import type { Caller } from '@secrets/caller';
import { requireFound } from '@secrets/domain';
import type { DbContext } from '../db-context.ts';
import { findPolicySource } from '../queries/policies.ts';
import { builtInSource } from './built-in-source.ts';

/** The text of a policy, written or built in. Throws `not_found` if there is none of that name. */
export async function requirePolicy({ db }: DbContext, caller: Caller, name: string): Promise<string> {
  return requireFound((await findPolicySource(db, caller.namespace.id, name)) ?? builtInSource.get(name));
}

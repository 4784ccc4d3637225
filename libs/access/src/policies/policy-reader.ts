import type { Caller, Capability } from '@secrets/caller';
import type { Sql } from '@secrets/db';
import { pathFromNamespace } from '../paths/request-path.ts';
import { readPolicies } from '../read-access.ts';
import { compileNamed } from './named-policies.ts';

/** Answers what a caller may do on a path other than the one of the request. */
export interface PolicyReader {
  /**
   * What the caller's policies grant on a path (decoded, without slashes at its ends) in the namespace of the
   * request; empty when nothing.
   */
  capabilitiesOn(caller: Caller, path: string): Promise<readonly Capability[]>;
}

/** Makes a reader for a service whose role may read `login.policies` and no more. It keeps nothing: one statement a question. */
export const createPolicyReader = ({ db }: { db: Sql }): PolicyReader => ({
  capabilitiesOn: async (caller, path) => {
    const asked = pathFromNamespace(caller.tokenNamespace.path, caller.namespace.path, path);
    if (asked === undefined || caller.policies.length === 0) return [];
    const rows = caller.policies.includes('root')
      ? []
      : await readPolicies(db, caller.tokenNamespace.id, caller.policies);
    return compileNamed(caller.policies, rows).on(asked);
  },
});

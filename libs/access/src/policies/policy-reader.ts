import { type Caller, type Capability, effectivePolicies } from '@secrets/caller';
import type { Sql } from '@secrets/db';
import { pathFromNamespace } from '../paths/request-path.ts';
import { readPolicies } from '../read-access.ts';
import { compileNamed } from './named-policies.ts';

/** Determines what a caller may do on a path other than the one of its request. */
export interface PolicyReader {
  /**
   * Returns what the caller's policies grant on a path in the namespace of the request. The path is decoded, without
   * leading and trailing slashes.
   */
  capabilitiesOn(caller: Caller, path: string): Promise<readonly Capability[]>;
}

/** Creates a reader for a service whose role may read only `login.policies`. It caches nothing: one statement per call. */
export const createPolicyReader = ({ db }: { db: Sql }): PolicyReader => ({
  capabilitiesOn: async (caller, path) => {
    const fullPath = pathFromNamespace(caller.tokenNamespace.path, caller.namespace.path, path);
    const names = effectivePolicies(caller);
    if (fullPath === undefined || names.length === 0) return [];
    const rows = names.includes('root') ? [] : await readPolicies(db, caller.tokenNamespace.id, names);
    return compileNamed(names, rows).on(fullPath);
  },
});

import { jsonResponse } from '../../../simulation/http-response.ts';
import { CodehostError, invalid, notSupplied } from '../codehost-error.ts';
import type { Access } from '../store/action-secret.ts';
import type { Scope } from '../store/scope.ts';
import {
  isoSeconds,
  noContent,
  type Operation,
  type OperationContext,
  type OperationRequest,
} from './operation.ts';
import { pageOf } from './page-of.ts';
import { secretIn } from './read-secrets.ts';
import { describedRepository } from './repositories.ts';
import { scopeIn } from './scope-in.ts';

/** Who sees the secret after a write: IDs that the request omits are cleared. */
export function accessIn(context: OperationContext, scope: Scope, { body }: OperationRequest): Access {
  const { visibility, selected_repository_ids: ids } = body;
  if (visibility === undefined) throw notSupplied('visibility');
  if (visibility !== 'all' && visibility !== 'private' && visibility !== 'selected')
    throw invalid('Invalid request.\n\nvisibility is not a member of ["all", "private", "selected"].');
  if (visibility === 'selected') return { visibility, repositoryIds: repositoryIds(context, scope, ids) };
  if (ids !== undefined) throw invalid('selected_repository_ids requires visibility selected');
  return { visibility, repositoryIds: [] };
}

function repositoryIds({ store }: OperationContext, { organization }: Scope, given: unknown): number[] {
  const ids = Array.isArray(given) ? given.map(Number) : [];
  for (const id of ids) {
    const owner = store.repositories.get(id)?.owner.toLowerCase();
    if (owner !== organization)
      throw invalid('selected_repository_ids contains a repository of another account');
  }
  return [...new Set(ids)];
}

export const listSelectedRepositories: Operation = (context, request) => {
  const scope = scopeIn(context, request);
  const { access } = secretIn(context, request, scope);
  const selected = (access?.repositoryIds ?? []).flatMap((id) => context.store.repositories.get(id) ?? []);
  const { items, headers } = pageOf(context, request, selected);
  const repositories = items.map(describedRepository);
  return jsonResponse(200, { total_count: selected.length, repositories }, headers);
};

/** Replaces the list of repositories that see the secret. Its visibility must be `selected`. */
export const setSelectedRepositories: Operation = (context, request) => {
  const scope = scopeIn(context, request);
  const secret = secretIn(context, request, scope);
  if (secret.access?.visibility !== 'selected')
    throw new CodehostError(409, 'Conflict: the visibility of the secret is not selected');
  const ids = repositoryIds(context, scope, request.body.selected_repository_ids);
  const updatedAt = isoSeconds(context.nowMs);
  const access = { visibility: 'selected', repositoryIds: ids } as const;
  context.store.change({ secret: { ...secret, access, updatedAt } });
  return noContent;
};

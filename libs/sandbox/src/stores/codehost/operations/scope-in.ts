import { CodehostError, notFound } from '../codehost-error.ts';
import type { Repository } from '../store/repository.ts';
import { environmentScope, organizationScope, repositoryScope, type Scope } from '../store/scope.ts';
import type { OperationContext, OperationRequest } from './operation.ts';

/**
 * Returns the repository that a path names, by its name or its ID.
 * @throws CodehostError 404, and 301 or 307 if it was renamed
 */
export function repositoryIn(context: OperationContext, request: OperationRequest): Repository {
  const { owner = '', repo = '', id } = request.params;
  const { repositories } = context.store;
  const found = id === undefined ? repositories.find(owner, repo) : repositories.get(Number(id));
  if (found !== undefined) return found;
  const renamed = repositories.findFormer(owner, repo);
  if (renamed === undefined) throw notFound();
  const rest = request.path.replace(/^\/repos\/[^/]+\/[^/?]+/, '');
  const location = `${context.baseUrl}/repositories/${renamed.id}${rest}`;
  throw new CodehostError(request.method === 'GET' ? 301 : 307, 'Moved Permanently', { location });
}

/**
 * Returns what the path's secrets belong to.
 * @throws CodehostError 404, if it does not exist
 */
export function scopeIn(context: OperationContext, request: OperationRequest): Scope {
  const { org, environment } = request.params;
  if (org !== undefined) return organizationScope(organizationIn(context, request));
  const repository = repositoryIn(context, request);
  if (environment === undefined) return repositoryScope(repository);
  const known = repository.environments.find((name) => name.toLowerCase() === environment.toLowerCase());
  if (known === undefined) throw notFound();
  return environmentScope(repository, known);
}

/** An account with a repository is an organization here. */
export function organizationIn({ store }: OperationContext, { params }: OperationRequest): string {
  const owner = store.repositories
    .all()
    .find((one) => one.owner.toLowerCase() === params.org?.toLowerCase())?.owner;
  if (owner === undefined) throw notFound();
  return owner;
}

import { CodehostError, notFound } from '../codehost-error.ts';
import type { Repository } from '../store/repository.ts';
import {
  environmentScope,
  organizationScope,
  repositoryScope,
  type Scope,
  scopeOfApp,
} from '../store/scope.ts';
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
 * Returns the repository that a path names, for a write.
 * @throws CodehostError also 403, if it is archived and therefore read-only
 * (https://docs.github.com/en/repositories/archiving-a-github-repository/archiving-repositories)
 */
export function writableRepositoryIn(context: OperationContext, request: OperationRequest): Repository {
  const repository = repositoryIn(context, request);
  if (repository.archived) throw new CodehostError(403, 'Repository was archived so is read-only.');
  return repository;
}

/**
 * Returns what the path's secrets belong to, for a write.
 * @throws CodehostError 404, if it does not exist, and 403, if it is read-only
 */
export function writableScopeIn(context: OperationContext, request: OperationRequest): Scope {
  const { org, orgId } = request.params;
  if ((org ?? orgId) === undefined) writableRepositoryIn(context, request);
  return scopeIn(context, request);
}

/**
 * Returns what the path's secrets belong to.
 * @throws CodehostError 404, if it does not exist
 */
export function scopeIn(context: OperationContext, request: OperationRequest): Scope {
  const [, app] = /^\/[^?]*\/(dependabot|codespaces)\/secrets(?=[/?]|$)/.exec(request.path) ?? [];
  const scope = placeIn(context, request);
  return app === 'dependabot' || app === 'codespaces' ? scopeOfApp(scope, app) : scope;
}

function placeIn(context: OperationContext, request: OperationRequest): Scope {
  const { org, orgId, environment } = request.params;
  if ((org ?? orgId) !== undefined) return organizationScope(organizationIn(context, request));
  const repository = repositoryIn(context, request);
  if (environment === undefined) return repositoryScope(repository);
  return environmentScope(repository, environmentIn(repository, environment));
}

/** Names of environments are not case-sensitive. */
export function environmentIn({ environments }: Repository, environment: string): string {
  const known = environments.find((name) => name.toLowerCase() === environment.toLowerCase());
  if (known === undefined) throw notFound();
  return known;
}

/** An account with a repository is an organization here. A path names it, or has its ID. */
export function organizationIn({ store }: OperationContext, { params }: OperationRequest): string {
  const { org, orgId } = params;
  const isIt = ({ owner }: Repository) =>
    org === undefined
      ? store.organizationId(owner) === Number(orgId)
      : owner.toLowerCase() === org.toLowerCase();
  const owner = store.repositories.all().find(isIt)?.owner;
  if (owner === undefined) throw notFound();
  return owner;
}

import { jsonResponse } from '../../../simulation/http-response.ts';
import { invalid } from '../codehost-error.ts';
import { environmentId, fullName, type Repository } from '../store/repository.ts';
import { noContent, type Operation } from './operation.ts';
import { pageOf } from './page-of.ts';
import { environmentIn, organizationIn, repositoryIn, scopeIn, writableRepositoryIn } from './scope-in.ts';

export const describedRepository = (repository: Repository): object => ({
  id: repository.id,
  name: repository.name,
  full_name: fullName(repository),
  private: repository.private,
  archived: repository.archived === true,
  visibility: repository.private ? 'private' : 'public',
  owner: { login: repository.owner },
});

export const getRepository: Operation = (context, request) =>
  jsonResponse(200, describedRepository(repositoryIn(context, request)));

export const listOrganizationRepositories: Operation = (context, request) => {
  const owner = organizationIn(context, request);
  const all = context.store.repositories.all().filter((repository) => repository.owner === owner);
  const { items, headers } = pageOf(context, request, all);
  return jsonResponse(200, items.map(describedRepository), headers);
};

export const createRepository: Operation = (context, request) => {
  const owner = organizationIn(context, request);
  const { repositories } = context.store;
  const name = nameIn(request.body.name);
  if (repositories.find(owner, name) !== undefined)
    throw invalid('Repository creation failed: name already exists on this account');
  const repository = repositories.created({ owner, name, private: request.body.private === true });
  context.store.change({ repository });
  return jsonResponse(201, describedRepository(repository));
};

/**
 * Renames or archives a repository. Requests for its former name are redirected. One that is archived can only be unarchived
 * (https://docs.github.com/en/rest/repos/repos#update-a-repository).
 */
export const updateRepository: Operation = (context, request) => {
  const archived = request.body.archived ?? repositoryIn(context, request).archived;
  const repository =
    archived === false ? repositoryIn(context, request) : writableRepositoryIn(context, request);
  const name = nameIn(request.body.name ?? repository.name);
  const formerly = [...repository.formerly, fullName(repository).toLowerCase()];
  const kept = { ...repository, archived: archived === true };
  const renamed = name === repository.name ? kept : { ...kept, name, formerly };
  context.store.change({ repository: renamed });
  return jsonResponse(200, describedRepository(renamed));
};

export const deleteRepository: Operation = (context, request) => {
  const { id } = repositoryIn(context, request);
  context.store.change({ deletedRepository: id });
  return noContent;
};

export const createOrUpdateEnvironment: Operation = (context, request) => {
  const repository = writableRepositoryIn(context, request);
  const environment = request.params.environment ?? '';
  const environments = [...new Set([...repository.environments, environment])];
  context.store.change({ repository: { ...repository, environments } });
  return jsonResponse(200, { id: environmentId(repository, environment), name: environment });
};

/** https://docs.github.com/en/rest/deployments/environments#get-an-environment */
export const getEnvironment: Operation = (context, request) => {
  const repository = repositoryIn(context, request);
  const name = environmentIn(repository, request.params.environment ?? '');
  return jsonResponse(200, { id: environmentId(repository, name), name });
};

/** Deletes an environment with its secrets. One of the same name that is created later has another ID. */
export const deleteEnvironment: Operation = (context, request) => {
  const repository = writableRepositoryIn(context, request);
  const name = environmentIn(repository, request.params.environment ?? '');
  const scope = scopeIn(context, request);
  for (const secret of context.store.in(scope))
    context.store.change({ removed: { scope: scope.key, name: secret.name } });
  const { deletedEnvironments: deleted = {} } = repository;
  const key = name.toLowerCase();
  const environments = repository.environments.filter((one) => one !== name);
  const deletedEnvironments = { ...deleted, [key]: (deleted[key] ?? 0) + 1 };
  context.store.change({ repository: { ...repository, environments, deletedEnvironments } });
  return noContent;
};

/** https://docs.github.com/en/rest/orgs/orgs#get-an-organization */
export const getOrganization: Operation = (context, request) => {
  const login = organizationIn(context, request);
  return jsonResponse(200, { login, id: context.store.organizationId(login) });
};

function nameIn(given: unknown): string {
  if (typeof given === 'string' && /^[\w.-]{1,100}$/.test(given)) return given;
  throw invalid('Repository name is invalid');
}

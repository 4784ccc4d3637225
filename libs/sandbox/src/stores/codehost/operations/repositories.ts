import { jsonResponse } from '../../../simulation/http-response.ts';
import { invalid } from '../codehost-error.ts';
import { fullName, type Repository } from '../store/repository.ts';
import { noContent, type Operation } from './operation.ts';
import { pageOf } from './page-of.ts';
import { organizationIn, repositoryIn } from './scope-in.ts';

export const describedRepository = (repository: Repository): object => ({
  id: repository.id,
  name: repository.name,
  full_name: fullName(repository),
  private: repository.private,
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

/** Renames a repository. Requests for its former name are redirected. */
export const updateRepository: Operation = (context, request) => {
  const repository = repositoryIn(context, request);
  const name = nameIn(request.body.name ?? repository.name);
  const formerly = [...repository.formerly, fullName(repository).toLowerCase()];
  const renamed = name === repository.name ? repository : { ...repository, name, formerly };
  context.store.change({ repository: renamed });
  return jsonResponse(200, describedRepository(renamed));
};

export const deleteRepository: Operation = (context, request) => {
  const { id } = repositoryIn(context, request);
  context.store.change({ deletedRepository: id });
  return noContent;
};

export const createOrUpdateEnvironment: Operation = (context, request) => {
  const repository = repositoryIn(context, request);
  const environment = request.params.environment ?? '';
  const environments = [...new Set([...repository.environments, environment])];
  context.store.change({ repository: { ...repository, environments } });
  return jsonResponse(200, { name: environment });
};

function nameIn(given: unknown): string {
  if (typeof given === 'string' && /^[\w.-]{1,100}$/.test(given)) return given;
  throw invalid('Repository name is invalid');
}

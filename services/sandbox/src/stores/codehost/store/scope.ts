import { fullName, type Repository } from './repository.ts';

/** The owner of secrets: a repository, an environment of it, or an organization. */
export interface Scope {
  kind: 'repository' | 'environment' | 'organization';
  /** Identifies it, also after it was renamed; part of the journal. */
  key: string;
  /** How the sandbox shows it. */
  label: string;
  /** How many secrets it can have (https://docs.github.com/en/actions/reference/security/secrets). */
  maxSecrets: number;
  /** The organization's name, in lower case; empty for the others. */
  organization: string;
}

export const repositoryScope = (repository: Repository): Scope => ({
  kind: 'repository',
  key: `repository ${repository.id}`,
  label: fullName(repository),
  maxSecrets: 100,
  organization: '',
});

export const environmentScope = (repository: Repository, environment: string): Scope => ({
  kind: 'environment',
  key: `environment ${repository.id} ${environment.toLowerCase()}`,
  label: `${fullName(repository)}, environment ${environment}`,
  maxSecrets: 100,
  organization: '',
});

/**
 * The secrets of a repository or an organization that only Dependabot or Codespaces can use. Codespaces has a limit of its own
 * (https://docs.github.com/en/codespaces/managing-codespaces-for-your-organization/managing-development-environment-secrets-for-your-repository-or-organization#limits-for-secrets);
 * none is documented for Dependabot.
 */
export const scopeOfApp = (scope: Scope, app: 'dependabot' | 'codespaces'): Scope => ({
  ...scope,
  key: `${scope.key} ${app}`,
  label: `${scope.label}, ${app}`,
  maxSecrets: app === 'codespaces' ? 100 : scope.maxSecrets,
});

/** Whether a scope, given by its key, is this repository or an environment of it. */
export const isInRepository = (key: string, repositoryId: number): boolean =>
  /^(?:repository|environment) (\d+)/.exec(key)?.[1] === String(repositoryId);

export const organizationScope = (name: string): Scope => ({
  kind: 'organization',
  key: `organization ${name.toLowerCase()}`,
  label: `organization ${name}`,
  maxSecrets: 1000,
  organization: name.toLowerCase(),
});

import { fullName, type Repository } from './repository.ts';

/** What secrets belong to: a repository, an environment of it, or an organization. */
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

/** Whether a scope, given by its key, is this repository or an environment of it. */
export const isInRepository = (key: string, repositoryId: number): boolean =>
  key === `repository ${repositoryId}` || key.startsWith(`environment ${repositoryId} `);

export const organizationScope = (name: string): Scope => ({
  kind: 'organization',
  key: `organization ${name.toLowerCase()}`,
  label: `organization ${name}`,
  maxSecrets: 1000,
  organization: name.toLowerCase(),
});

import { createHash } from 'node:crypto';
import { forbidden, notFound } from './api-error.ts';

/** A project that the access token can reach. */
export interface Project {
  id: string;
  name: string;
  /** The team that owns it; absent for a project of the user. */
  teamId?: string;
  /** The IDs of the environments that it defines itself. */
  customEnvironmentIds?: string[];
  /** The branch that is deployed for production. Default `main`. */
  productionBranch?: string;
  /** Whether the team makes every variable for production and preview sensitive. */
  enforcesSensitive?: boolean;
  /** How many bytes the variables of an environment may have together. Default 65,536. */
  maxBytes?: number;
  /** Whether the role of the token's user hides variables for production. */
  hidesProduction?: boolean;
}

/**
 * Finds a project by its ID or name in the team of the request, or among the user's own.
 * @throws ApiError 403 for a team that the user is not a member of; 404 for a project that is not there
 */
export function findProject(
  projects: readonly Project[],
  { idOrName, teamId }: { idOrName: string; teamId: string | undefined },
): Project {
  if (teamId !== undefined && !projects.some((project) => project.teamId === teamId))
    throw forbidden('Not authorized', { teamId });
  const found = projects.find(
    (project) => project.teamId === teamId && (project.id === idOrName || project.name === idOrName),
  );
  if (found === undefined) throw notFound('Project');
  return found;
}

/** Derives an ID of the provider's form. The result is deterministic. */
export const idFrom = (prefix: string, text: string): string =>
  `${prefix}_${createHash('sha256').update(text).digest('hex').slice(0, 24)}`;

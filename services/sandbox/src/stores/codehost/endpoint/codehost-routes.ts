import express, { type Request, type RequestHandler } from 'express';
import { notFound } from '../codehost-error.ts';
import {
  accessTokenOperation,
  getApplication,
  suspendInstallation,
  unsuspendInstallation,
} from '../operations/application.ts';
import type { Operation } from '../operations/operation.ts';
import { listSelectedRepositories, setSelectedRepositories } from '../operations/organization-access.ts';
import { getPublicKey, getSecret, listSecrets } from '../operations/read-secrets.ts';
import {
  createOrUpdateEnvironment,
  createRepository,
  deleteEnvironment,
  deleteRepository,
  getEnvironment,
  getOrganization,
  getRepository,
  listOrganizationRepositories,
  updateRepository,
} from '../operations/repositories.ts';
import { createOrUpdateSecret, deleteSecret } from '../operations/write-secret.ts';

/** An operation, under the name that it has in the provider's own client. */
export interface NamedOperation {
  name: string;
  run: Operation;
  /** Whether the caller is the application itself, with a JWT, and not one of its installations or a user. */
  isForApplication?: boolean;
}

type Method = 'get' | 'put' | 'post' | 'patch' | 'delete';
type Route = readonly [Method, string, NamedOperation];

const repositoryPaths = ['/repos/:owner/:repo', '/repositories/:id'];

/** The same five operations exist for the secrets of each kind of scope. */
const secretRoutes = (path: string, kind: string): Route[] => [
  ['get', path, { name: `list${kind}Secrets`, run: listSecrets }],
  ['get', `${path}/public-key`, { name: `get${kind}PublicKey`, run: getPublicKey }],
  ['get', `${path}/:name`, { name: `get${kind}Secret`, run: getSecret }],
  ['put', `${path}/:name`, { name: `createOrUpdate${kind}Secret`, run: createOrUpdateSecret }],
  ['delete', `${path}/:name`, { name: `delete${kind}Secret`, run: deleteSecret }],
];

const repositoryRoutes = (path: string): Route[] => [
  ['get', path, { name: path.endsWith(':id') ? 'getRepositoryById' : 'getRepository', run: getRepository }],
  ['patch', path, { name: 'updateRepository', run: updateRepository }],
  ['delete', path, { name: 'deleteRepository', run: deleteRepository }],
  [
    'put',
    `${path}/environments/:environment`,
    { name: 'createOrUpdateEnvironment', run: createOrUpdateEnvironment },
  ],
  ['get', `${path}/environments/:environment`, { name: 'getEnvironment', run: getEnvironment }],
  ['delete', `${path}/environments/:environment`, { name: 'deleteEnvironment', run: deleteEnvironment }],
  ...secretRoutes(`${path}/actions/secrets`, 'Repo'),
  ...secretRoutes(`${path}/dependabot/secrets`, 'RepoDependabot'),
  ...secretRoutes(`${path}/codespaces/secrets`, 'RepoCodespaces'),
  ...secretRoutes(`${path}/environments/:environment/secrets`, 'Environment'),
];

const installation = '/app/installations/:installation';

/** Paths by name and by ID. The links between pages contain the ID, as they do for repositories. */
const organizationPaths = ['/orgs/:org', '/organizations/:orgId'];

const organizationSecretRoutes = (path: string, kind: string): Route[] => [
  ...secretRoutes(path, kind),
  [
    'get',
    `${path}/:name/repositories`,
    { name: `listSelectedReposFor${kind}Secret`, run: listSelectedRepositories },
  ],
  [
    'put',
    `${path}/:name/repositories`,
    { name: `setSelectedReposFor${kind}Secret`, run: setSelectedRepositories },
  ],
];

const organizationRoutes = (path: string): Route[] => {
  return [
    [
      'get',
      path,
      { name: path.endsWith('Id') ? 'getOrganizationById' : 'getOrganization', run: getOrganization },
    ],
    ...organizationSecretRoutes(`${path}/actions/secrets`, 'Org'),
    ...organizationSecretRoutes(`${path}/dependabot/secrets`, 'OrgDependabot'),
    ...organizationSecretRoutes(`${path}/codespaces/secrets`, 'OrgCodespaces'),
    ['get', `${path}/repos`, { name: 'listRepositories', run: listOrganizationRepositories }],
    ['post', `${path}/repos`, { name: 'createRepository', run: createRepository }],
  ];
};

const routes: readonly Route[] = [
  ...repositoryPaths.flatMap(repositoryRoutes),
  ...organizationPaths.flatMap(organizationRoutes),
  ['get', '/app', { name: 'getApplication', run: getApplication, isForApplication: true }],
  ['post', `${installation}/access_tokens`, accessTokenOperation],
  [
    'put',
    `${installation}/suspended`,
    { name: 'suspendInstallation', run: suspendInstallation, isForApplication: true },
  ],
  [
    'delete',
    `${installation}/suspended`,
    { name: 'unsuspendInstallation', run: unsuspendInstallation, isForApplication: true },
  ],
];

const unknown: NamedOperation = {
  name: 'unknown',
  run: () => {
    throw notFound();
  },
};

/** Routes each request to the handler of its operation. */
export function codehostRoutes(
  handlerOf: (operation: NamedOperation) => (request: Request, response: express.Response) => Promise<void>,
): RequestHandler {
  const router = express.Router();
  router.use(express.json({ limit: '256kb', type: () => true }));
  for (const [method, path, operation] of routes) router[method](path, handlerOf(operation));
  router.use(handlerOf(unknown));
  return router;
}

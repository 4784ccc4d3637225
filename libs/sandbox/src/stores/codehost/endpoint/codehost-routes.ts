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
  deleteRepository,
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
const secretRoutes = (path: string, kind: 'Repo' | 'Environment' | 'Org'): Route[] => [
  ['get', path, { name: `list${kind}Secrets`, run: listSecrets }],
  ['get', `${path}/public-key`, { name: `get${kind}PublicKey`, run: getPublicKey }],
  ['get', `${path}/:name`, { name: `get${kind}Secret`, run: getSecret }],
  ['put', `${path}/:name`, { name: `createOrUpdate${kind}Secret`, run: createOrUpdateSecret }],
  ['delete', `${path}/:name`, { name: `delete${kind}Secret`, run: deleteSecret }],
];

const repositoryRoutes = (path: string): Route[] => [
  ['get', path, { name: 'getRepository', run: getRepository }],
  ['patch', path, { name: 'updateRepository', run: updateRepository }],
  ['delete', path, { name: 'deleteRepository', run: deleteRepository }],
  [
    'put',
    `${path}/environments/:environment`,
    { name: 'createOrUpdateEnvironment', run: createOrUpdateEnvironment },
  ],
  ...secretRoutes(`${path}/actions/secrets`, 'Repo'),
  ...secretRoutes(`${path}/environments/:environment/secrets`, 'Environment'),
];

const selected = '/orgs/:org/actions/secrets/:name/repositories';
const installation = '/app/installations/:installation';

const routes: readonly Route[] = [
  ...repositoryPaths.flatMap(repositoryRoutes),
  ...secretRoutes('/orgs/:org/actions/secrets', 'Org'),
  ['get', selected, { name: 'listSelectedReposForOrgSecret', run: listSelectedRepositories }],
  ['put', selected, { name: 'setSelectedReposForOrgSecret', run: setSelectedRepositories }],
  ['get', '/orgs/:org/repos', { name: 'listRepositories', run: listOrganizationRepositories }],
  ['post', '/orgs/:org/repos', { name: 'createRepository', run: createRepository }],
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

import express, { type Request, type Response } from 'express';
import { FaultBoard } from '../faults/fault-injector.ts';
import { CallLog } from '../simulation/call-log.ts';
import { type Answer, type Dialect, plainJson } from '../simulation/http-response.ts';
import { type Desk, exchange } from '../simulation/serve-call.ts';
import type { SandboxTools, Simulation } from '../simulation/simulation.ts';
import { discoveryDocument } from './discovery.ts';
import { defaultIdentities, guidOf, type Identity } from './identity.ts';
import { metadataToken } from './instance-metadata.ts';
import { issueToken, type TokenOrder } from './issue-token.ts';
import { type KeyRecord, SigningKeys } from './signing-keys.ts';

const NAME = 'directory';

export interface DirectoryOptions {
  /** The managed identities; the first is the machine's own. Default: two that follow from the seed. */
  identities?: Identity[];
}

/** The simulated identity directory. Its faults are aimed at the operations `discovery`, `keys`, `metadata-token`. */
export interface Directory extends Simulation {
  readonly tenantId: string;
  readonly identities: readonly Identity[];
  /** Makes the first key, unless a restart brought one. */
  prepare(): Promise<void>;
  /** A new key signs from now on; older ones stay published unless told otherwise. Answers the new key's id. */
  rotate(options?: { keepOlder?: boolean }): Promise<string>;
  /** A token of any shape, good or bad. */
  issueToken(order: TokenOrder): Promise<string>;
  /** A token of one of the identities, in its real claims. */
  issueTokenFor(identityName: string, order: Omit<TokenOrder, 'oid'>): Promise<string>;
}

export function simulateDirectory(
  tools: SandboxTools,
  tenantId: string,
  options: DirectoryOptions = {},
): Directory {
  const keys = new SigningKeys();
  const faults = new FaultBoard(tools.now);
  const log = new CallLog();
  const identities = options.identities ?? defaultIdentities(tools.seed);
  const rotate = async (keepsOlder: boolean) => {
    const record = await keys.rotate(keepsOlder);
    tools.keep({ key: record });
    return record.kid;
  };
  const issue = (order: TokenOrder) => issueToken(keys, tenantId, order, tools.now());
  const desk = { store: NAME, faults, calls: log, now: tools.now };
  return {
    name: NAME,
    path: '/directory',
    tenantId,
    identities,
    faults,
    routes: directoryRoutes({ desk, keys, tenantId, identities, issue }),
    calls: () => log.list(),
    prepare: async () => {
      if (keys.isEmpty) await rotate(false);
    },
    rotate: ({ keepOlder = true } = {}) => rotate(keepOlder),
    issueToken: issue,
    issueTokenFor: (name, order) => issue({ ...ordered(named(identities, name)), ...order }),
    reset: () => {
      faults.clear();
      log.clear();
    },
    replay: (record) => {
      if ('key' in record) keys.take(record.key as KeyRecord);
    },
    snapshot: () => keys.records().map((key) => ({ key })),
  };
}

interface Counter {
  desk: Desk;
  keys: SigningKeys;
  tenantId: string;
  identities: readonly Identity[];
  issue: (order: TokenOrder) => Promise<string>;
}

/** Routes from the sandbox's root: the directory has two places, its tenants and the instance's metadata. */
function directoryRoutes(counter: Counter): express.Router {
  const { desk, keys, tenantId } = counter;
  const answer =
    (operation: string, perform: (request: Request) => Answer | Promise<Answer>) =>
    async (request: Request, response: Response) =>
      exchange(desk, dialect, { operation, sent: Object.keys(request.query).slice(0, 32) }, response, () =>
        perform(request),
      );
  const ofTenant = (perform: (request: Request) => object) => (request: Request) =>
    request.params.tenant === tenantId
      ? plainJson(200, perform(request))
      : unknownTenant(String(request.params.tenant));
  const discovery = (version: 1 | 2) =>
    answer(
      'discovery',
      ofTenant((request) => discoveryDocument(baseOf(request, tenantId), tenantId, version)),
    );
  const published = answer(
    'keys',
    ofTenant(() => ({ keys: keys.published() })),
  );
  const routes = express.Router();
  routes.get('/directory/:tenant/.well-known/openid-configuration', discovery(1));
  routes.get('/directory/:tenant/v2.0/.well-known/openid-configuration', discovery(2));
  routes.get('/directory/:tenant/discovery/keys', published);
  routes.get('/directory/:tenant/discovery/v2.0/keys', published);
  routes.get(
    '/metadata/identity/oauth2/token',
    answer('metadata-token', (request) => metadata(counter, request)),
  );
  return routes;
}

function metadata({ desk, identities, issue }: Counter, request: Request): Promise<Answer> {
  return metadataToken(request, identities, desk.now(), (identity, audience, expiresInSeconds) =>
    issue({ ...ordered(identity), audience, expiresInSeconds }),
  );
}

/** What is said of an identity in its tokens: a user-assigned one names itself and where it runs. */
function ordered(identity: Identity): Omit<TokenOrder, 'audience'> {
  const { oid, appid, groups, resourceId, identityId } = identity;
  const place =
    identityId === undefined ? { xms_mirid: resourceId } : { xms_mirid: identityId, xms_az_rid: resourceId };
  return { oid, appid, groups, ...place };
}

function named(identities: readonly Identity[], name: string): Identity {
  const identity = identities.find((candidate) => candidate.name === name);
  if (!identity) throw new RangeError(`the directory has no identity ${name}`);
  return identity;
}

function baseOf(request: Request, tenantId: string): string {
  return `${request.protocol}://${request.header('host')}${request.baseUrl}/directory/${tenantId}`;
}

function unknownTenant(tenant: string): Answer {
  const description = `AADSTS90002: Tenant '${tenant.slice(0, 64)}' not found.`;
  return plainJson(400, { error: 'invalid_tenant', error_description: description, error_codes: [90002] });
}

const failure: Dialect['failure'] = (status, code, message) =>
  plainJson(status, { error: code, error_description: message, trace_id: guidOf(message) });

const dialect: Dialect = {
  failure,
  throttled: (seconds) => ({
    ...plainJson(
      429,
      { error: 'temporarily_unavailable', error_description: 'AADSTS90055: too many requests.' },
      retryAfter(seconds),
    ),
  }),
  serverError: () => failure(503, 'temporarily_unavailable', 'The service is temporarily unavailable.'),
  signatureRefused: () => failure(401, 'invalid_client', 'AADSTS7000215: Invalid client secret provided.'),
};

function retryAfter(seconds: number | undefined): Record<string, string> {
  return seconds === undefined ? {} : { 'retry-after': String(seconds) };
}

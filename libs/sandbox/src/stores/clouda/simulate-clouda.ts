import express, { type Request, type Response } from 'express';
import { z } from 'zod';
import { FaultBoard } from '../../faults/fault-injector.ts';
import { CallLog } from '../../simulation/call-log.ts';
import type { Answer } from '../../simulation/http-response.ts';
import { type Call, exchange } from '../../simulation/serve-call.ts';
import type { HeldSecret, SandboxTools, SimulatedStore } from '../../simulation/simulation.ts';
import { AwsRefusal } from './aws-error.ts';
import { type AccessKey, AccessKeys, keyOfSeed } from './credentials/access-keys.ts';
import { assumeRole, callerIdentity, type Role } from './credentials/assume-role.ts';
import {
  type Claim,
  readClaim,
  type SignedRequest,
  verifySignature,
} from './credentials/request-signature.ts';
import { awsJson, awsJsonRefusal, secretsDialect } from './endpoint/secrets-protocol.ts';
import { stsDialect, stsRefusal, stsResult } from './endpoint/sts-protocol.ts';
import { operations } from './operations/operations.ts';
import type { ShelfRecord } from './store/region-store.ts';
import { SecretShelves } from './store/region-stores.ts';
import type { Secret } from './store/secret.ts';
import { currentVersion } from './store/secret-versions.ts';

const NAME = 'cloudA-sm';
const LARGEST_BODY = '2mb';
const DEFAULT_ACCOUNT = '123456789012';

export interface CloudAOptions {
  /** Accepted key pairs; the first is the one in `credentials`. Default: one that follows from the seed. */
  accessKeys?: AccessKey[];
  /** Further roles that can be assumed, beside the default one. */
  roles?: Role[];
  /** Length of every session, whatever is asked for. Default: as asked. */
  sessionSeconds?: number;
  /** How long a name stays taken after a deletion without recovery. Default 300. */
  forcedDeleteMs?: number;
  /** How long a replication to another region is in progress. Default 100. */
  replicationMs?: number;
  /** Versions kept per secret. Default 100, as in the real service. */
  versionLimit?: number;
}

export interface CloudA extends SimulatedStore {
  readonly credentials: Readonly<{ accessKeyId: string; secretAccessKey: string; roleArn: string }>;
}

/** The first cloud's secrets manager, with the token service that lends roles, on one endpoint. */
export function simulateCloudA(tools: SandboxTools, options: CloudAOptions = {}): CloudA {
  const accessKeys = options.accessKeys ?? [keyOfSeed(tools.seed, DEFAULT_ACCOUNT)];
  const [first] = accessKeys;
  if (!first) throw new RangeError('cloudA needs an access key');
  const roleArn = `arn:aws:iam::${first.accountId}:role/sandbox`;
  const keys = new AccessKeys(accessKeys, tools.seed);
  const shelves = new SecretShelves(tools.keep, tools.now);
  const faults = new FaultBoard(tools.now);
  const log = new CallLog();
  const desk: CloudADesk = {
    store: NAME,
    faults,
    calls: log,
    now: tools.now,
    keys,
    shelves,
    roles: [{ arn: roleArn }, ...(options.roles ?? [])],
    options,
  };
  const routes = express.Router();
  routes.use(express.raw({ type: () => true, limit: LARGEST_BODY }), (request, response) =>
    serve(desk, request, response),
  );
  return {
    name: NAME,
    path: '/clouda',
    routes,
    faults,
    credentials: { accessKeyId: first.accessKeyId, secretAccessKey: first.secretAccessKey, roleArn },
    calls: () => log.list(),
    secrets: () =>
      [...shelves.all()].flatMap((shelf) =>
        [...shelf.all()].map((secret) => held(shelves, shelf.account, shelf.region, secret)),
      ),
    reset: () => {
      shelves.clear();
      faults.clear();
      log.clear();
      tools.keep({ cleared: true });
    },
    replay: (record) => ('cleared' in record ? shelves.clear() : shelves.replay(record as ShelfRecord)),
    snapshot: () => shelves.snapshot(),
  };
}

interface CloudADesk {
  store: string;
  faults: FaultBoard;
  calls: CallLog;
  now: () => number;
  keys: AccessKeys;
  shelves: SecretShelves;
  roles: readonly Role[];
  options: CloudAOptions;
}

/** A request with what it says of itself. */
interface Arrival {
  request: SignedRequest;
  claim: Claim | undefined;
  operation: string;
}

async function serve(desk: CloudADesk, incoming: Request, response: Response): Promise<void> {
  const request = asArrived(incoming);
  const claim = readClaim(request.headers.authorization);
  const isForm = (request.headers['content-type'] ?? '').startsWith('application/x-www-form-urlencoded');
  if (claim?.service === 'sts' || isForm) return serveSts(desk, { request, claim, operation: '' }, response);
  const operation = (request.headers['x-amz-target'] ?? '').replace(/^secretsmanager\./, '').slice(0, 64);
  await serveSecrets(desk, { request, claim, operation }, response);
}

async function serveSecrets(desk: CloudADesk, arrival: Arrival, response: Response): Promise<void> {
  const input = parsedJson(arrival.request.body);
  const call = describeCall(arrival, input ?? {}, nameIn(input ?? {}));
  await exchange(desk, secretsDialect, call, response, async ({ staleMs }) => {
    try {
      return awsJson(200, await performSecrets(desk, arrival, input, staleMs));
    } catch (error) {
      return awsJsonRefusal(error);
    }
  });
}

async function performSecrets(
  desk: CloudADesk,
  arrival: Arrival,
  input: object | undefined,
  staleMs: number,
): Promise<object> {
  const { request, claim } = arrival;
  const nowMs = desk.now();
  const signer = await verifySignature(request, claim, { keys: desk.keys, service: 'secretsmanager', nowMs });
  const operation = operations.get(arrival.operation);
  if (!operation || request.method !== 'POST')
    throw new AwsRefusal('UnknownOperationException', 'No such operation.');
  if (!input) throw new AwsRefusal('SerializationException', 'The body is not a JSON object.');
  const { forcedDeleteMs = 300, replicationMs = 100, versionLimit = 100 } = desk.options;
  const shelf = desk.shelves.of(signer.accountId, claim?.region ?? '');
  const realm = { shelf, shelves: desk.shelves, nowMs, staleMs, forcedDeleteMs, replicationMs, versionLimit };
  return run(() => operation.run(realm, input));
}

/** Turns a parameter of the wrong shape into what the service's front answers to it. */
function run(act: () => object): object {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw error;
    const [issue] = error.issues;
    throw new AwsRefusal(
      'ValidationException',
      `Value at '${issue?.path.join('.')}' failed to satisfy constraint`,
    );
  }
}

async function serveSts(desk: CloudADesk, arrival: Arrival, response: Response): Promise<void> {
  const sent = Object.fromEntries(new URLSearchParams(arrival.request.body.toString()));
  const operation = (sent.Action ?? '').slice(0, 64);
  const call = describeCall({ ...arrival, operation }, sent, sent.RoleArn);
  await exchange(desk, stsDialect, call, response, async () => {
    try {
      return await performSts(desk, arrival, operation, sent);
    } catch (error) {
      return stsRefusal(error);
    }
  });
}

async function performSts(
  desk: CloudADesk,
  { request, claim }: Arrival,
  action: string,
  sent: Record<string, string>,
): Promise<Answer> {
  const { keys, roles, options } = desk;
  const nowMs = desk.now();
  const signer = await verifySignature(request, claim, { keys, service: 'sts', nowMs });
  if (action === 'GetCallerIdentity') return stsResult(action, callerIdentity(signer));
  if (action !== 'AssumeRole') throw new AwsRefusal('InvalidAction', `Could not find operation ${action}.`);
  return stsResult(
    action,
    assumeRole(sent, signer, { keys, roles, sessionSeconds: options.sessionSeconds, nowMs }),
  );
}

function asArrived(incoming: Request): SignedRequest {
  const headers = Object.fromEntries(
    Object.entries(incoming.headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(',') : (value ?? ''),
    ]),
  );
  const body = Buffer.isBuffer(incoming.body) ? incoming.body : Buffer.alloc(0);
  return { method: incoming.method, url: incoming.originalUrl, headers, body };
}

function describeCall({ claim, operation }: Arrival, input: object, name: string | undefined): Call {
  const sent = Object.keys(input).slice(0, 32);
  return { operation, name, region: claim?.region, caller: claim?.accessKeyId, sent };
}

function parsedJson(body: Buffer): object | undefined {
  try {
    const content: unknown = JSON.parse(body.toString());
    return typeof content === 'object' && content !== null ? content : undefined;
  } catch {
    return undefined;
  }
}

/** The name that a call is about: of a whole ARN, what stands before the random characters. */
function nameIn(input: { SecretId?: unknown; Name?: unknown }): string | undefined {
  const id = input.SecretId ?? input.Name;
  if (typeof id !== 'string') return undefined;
  return id
    .replace(/^arn:aws:secretsmanager:[^:]*:[^:]*:secret:(.*?)(-[A-Za-z0-9]{6})?$/, '$1')
    .slice(0, 512);
}

function held(shelves: SecretShelves, account: string, region: string, secret: Secret): HeldSecret {
  const primary =
    secret.primaryRegion === undefined
      ? undefined
      : shelves.of(account, secret.primaryRegion).named(secret.name);
  const shown = primary ?? secret;
  const version = currentVersion(shown);
  return {
    name: secret.name,
    region,
    value: version?.text ?? version?.binary,
    tags: Object.fromEntries(shown.tags),
    version_count: shown.versions.size,
    deleted_at: secret.purgeAtMs === undefined ? null : new Date(secret.purgeAtMs).toISOString(),
    updated_at: new Date(shown.changedAtMs).toISOString(),
  };
}

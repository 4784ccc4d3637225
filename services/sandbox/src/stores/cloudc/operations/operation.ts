import { z } from 'zod';
import { failedPrecondition, invalidArgument, notFound } from '../google-error.ts';
import type { EncryptionKeys, KeysByPlace } from '../store/encryption-keys.ts';
import type { Projects } from '../store/projects.ts';
import type { RateLimits } from '../store/rate-limits.ts';
import type { Secret, SecretVersion } from '../store/secret.ts';
import type { SecretRef, SecretStore } from '../store/secret-store.ts';

/** Context of an operation: the store, the projects, the limits and the time. */
export interface OperationContext {
  store: SecretStore;
  projects: Projects;
  limits: RateLimits;
  keys: EncryptionKeys;
  nowMs: number;
}

/** The parts of the path, the query and the body of a call. */
export interface OperationInput {
  project: string;
  /** Undefined for what is not regional. */
  location: string | undefined;
  secret: string;
  version: string;
  query: Readonly<Record<string, string>>;
  body: Record<string, unknown>;
}

/** One operation of the API. Throws a ZodError if the input has the wrong shape. */
export type Operation = (context: OperationContext, input: OperationInput) => object;

/** The ID of the project in the path. */
export const projectOf = ({ projects }: OperationContext, { project }: OperationInput): string =>
  projects.find(project);

/** @throws GoogleError NOT_FOUND */
export function findSecret(context: OperationContext, input: OperationInput): Secret {
  const ref = { project: projectOf(context, input), location: input.location, id: input.secret };
  const secret = context.store.get(ref);
  if (secret === undefined || isExpired(secret, context.nowMs))
    throw notFound(`Secret [${secretName(context, ref)}] not found.`);
  return secret;
}

/** The provider deletes a secret when it expires (https://cloud.google.com/secret-manager/docs/secret-expiration). */
export const isExpired = ({ expireAtMs = Infinity }: Secret, nowMs: number): boolean => expireAtMs <= nowMs;

/** A version as it is by now: with a delayed destruction, it is destroyed once the delay has passed. */
export const settled = (version: SecretVersion, nowMs: number): SecretVersion => {
  const { scheduledDestroyAtMs = Infinity } = version;
  if (scheduledDestroyAtMs > nowMs) return version;
  const destroyed = { state: 'DESTROYED', data: undefined, destroyedAtMs: scheduledDestroyAtMs } as const;
  return { ...version, ...destroyed, scheduledDestroyAtMs: undefined };
};

/**
 * Returns a version by its number or by the alias `latest`.
 * @throws GoogleError NOT_FOUND
 */
export function findVersion(
  context: OperationContext,
  input: OperationInput,
): { secret: Secret; version: SecretVersion } {
  const secret = findSecret(context, input);
  const name = secretName(context, secret);
  const number = input.version === 'latest' ? [...secret.versions.keys()].at(-1) : Number(input.version);
  if (number === undefined) throw notFound(`Secret [${name}] not found or has no versions.`);
  const version = secret.versions.get(number);
  if (version === undefined) throw notFound(`Secret Version [${name}/versions/${input.version}] not found.`);
  return { secret, version: settled(version, context.nowMs) };
}

/** @throws GoogleError FAILED_PRECONDITION if the client sent an etag, and it is not the current one */
export function requireEtag(current: string, sent: unknown): void {
  if (sent === undefined || sent === '') return;
  if (sent !== current)
    throw failedPrecondition(
      'The etag provided in the request does not match the current etag of the resource.',
    );
}

/** The full name of a secret, with the project's number. */
export const secretName = ({ projects }: OperationContext, { project, location, id }: SecretRef): string =>
  `projects/${projects.number(project)}${location === undefined ? '' : `/locations/${location}`}/secrets/${id}`;

const wireDate = (ms: number): string => new Date(ms).toISOString();

export function wireSecret(context: OperationContext, secret: Secret): object {
  const { replication, customerManagedEncryption, versionDestroyTtlMs, expireAtMs } = secret;
  const { labels, annotations, etag } = secret;
  return {
    name: secretName(context, secret),
    ...(replication === undefined ? {} : { replication }),
    ...(customerManagedEncryption === undefined ? {} : { customerManagedEncryption }),
    ...(versionDestroyTtlMs === undefined ? {} : { versionDestroyTtl: `${versionDestroyTtlMs / 1000}s` }),
    createTime: wireDate(secret.createdAtMs),
    ...(expireAtMs === undefined ? {} : { expireTime: wireDate(expireAtMs) }),
    labels,
    annotations,
    etag,
  };
}

export function wireVersion(context: OperationContext, secret: Secret, version: SecretVersion): object {
  const { number, createdAtMs, destroyedAtMs, scheduledDestroyAtMs, state, etag, hasChecksum } = version;
  return {
    name: `${secretName(context, secret)}/versions/${number}`,
    createTime: wireDate(createdAtMs),
    ...(destroyedAtMs === undefined ? {} : { destroyTime: wireDate(destroyedAtMs) }),
    ...(scheduledDestroyAtMs === undefined ? {} : { scheduledDestroyTime: wireDate(scheduledDestroyAtMs) }),
    state,
    ...encryptionStatus(secret, version.keys ?? {}),
    etag,
    ...(hasChecksum ? { clientSpecifiedPayloadChecksum: true } : {}),
  };
}

/** Where a version is stored, and with which versions of the keys: each key of the sandbox has one. */
function encryptionStatus({ location: region, replication }: Secret, keys: KeysByPlace): object {
  const statusOf = (place: string) =>
    keys[place] === undefined
      ? {}
      : { customerManagedEncryption: { kmsKeyVersionName: `${keys[place]}/cryptoKeyVersions/1` } };
  if (replication === undefined) return statusOf(region ?? '');
  if ('automatic' in replication) return { replicationStatus: { automatic: statusOf('global') } };
  const replicas = replication.userManaged.replicas.map(({ location }) => ({
    location,
    ...statusOf(location),
  }));
  return { replicationStatus: { userManaged: { replicas } } };
}

const Page = z.object({
  pageSize: z.coerce.number().int().min(0).max(25_000).default(0),
  pageToken: z.string().default(''),
});

/** One page of a list, and the token of the next one. `positionOf` increases along the list. */
export function pageOf<Item>(
  items: readonly Item[],
  positionOf: (item: Item) => number,
  query: OperationInput['query'],
): { shown: Item[]; totalSize: number; nextPageToken: string } {
  const { pageSize, pageToken } = Page.parse(query);
  const after = pageToken === '' ? 0 : parsePageToken(pageToken);
  const rest = items.filter((item) => positionOf(item) > after);
  const shown = rest.slice(0, pageSize === 0 ? 25_000 : pageSize);
  const last = shown.at(-1);
  const nextPageToken = last && rest.length > shown.length ? toPageToken(positionOf(last)) : '';
  return { shown, totalSize: items.length, nextPageToken };
}

const toPageToken = (position: number): string => Buffer.from(`after:${position}`).toString('base64url');

function parsePageToken(token: string): number {
  const position = /^after:(\d{1,15})$/.exec(Buffer.from(token, 'base64url').toString())?.[1];
  if (position === undefined) throw invalidArgument('page_token', 'The page token is invalid.');
  return Number(position);
}

import { z } from 'zod';
import { failedPrecondition, invalidArgument, notFound } from '../google-error.ts';
import type { Projects } from '../store/projects.ts';
import type { RateLimits } from '../store/rate-limits.ts';
import type { Secret, SecretVersion } from '../store/secret.ts';
import type { SecretStore } from '../store/secret-store.ts';

/** Context of an operation: the store, the projects, the limits and the time. */
export interface OperationContext {
  store: SecretStore;
  projects: Projects;
  limits: RateLimits;
  nowMs: number;
}

/** The parts of the path, the query and the body of a call. */
export interface OperationInput {
  project: string;
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
  const project = projectOf(context, input);
  const secret = context.store.get(project, input.secret);
  if (secret === undefined)
    throw notFound(`Secret [${secretName(context, project, input.secret)}] not found.`);
  return secret;
}

/**
 * Returns a version by its number or by the alias `latest`.
 * @throws GoogleError NOT_FOUND
 */
export function findVersion(
  context: OperationContext,
  input: OperationInput,
): { secret: Secret; version: SecretVersion } {
  const secret = findSecret(context, input);
  const name = secretName(context, secret.project, secret.id);
  const number = input.version === 'latest' ? [...secret.versions.keys()].at(-1) : Number(input.version);
  if (number === undefined) throw notFound(`Secret [${name}] not found or has no versions.`);
  const version = secret.versions.get(number);
  if (version === undefined) throw notFound(`Secret Version [${name}/versions/${input.version}] not found.`);
  return { secret, version };
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
export const secretName = ({ projects }: OperationContext, project: string, id: string): string =>
  `projects/${projects.number(project)}/secrets/${id}`;

const wireDate = (ms: number): string => new Date(ms).toISOString();

export function wireSecret(context: OperationContext, secret: Secret): object {
  const { project, id, replication, createdAtMs, labels, annotations, etag } = secret;
  const name = secretName(context, project, id);
  return { name, replication, createTime: wireDate(createdAtMs), labels, annotations, etag };
}

export function wireVersion(context: OperationContext, secret: Secret, version: SecretVersion): object {
  const { number, createdAtMs, destroyedAtMs, state, etag, hasChecksum } = version;
  return {
    name: `${secretName(context, secret.project, secret.id)}/versions/${number}`,
    createTime: wireDate(createdAtMs),
    ...(destroyedAtMs === undefined ? {} : { destroyTime: wireDate(destroyedAtMs) }),
    state,
    replicationStatus: replicationStatus(secret),
    etag,
    ...(hasChecksum ? { clientSpecifiedPayloadChecksum: true } : {}),
  };
}

const replicationStatus = ({ replication }: Secret): object =>
  'automatic' in replication
    ? { automatic: {} }
    : { userManaged: { replicas: replication.userManaged.replicas.map(({ location }) => ({ location })) } };

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

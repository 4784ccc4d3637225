import { z } from 'zod';
import { GoogleError, invalidArgument } from '../google-error.ts';
import { requireSameLocations, requireStorage } from '../store/replication-rules.ts';
import type { Secret, Storage } from '../store/secret.ts';
import { validateId, validateLabels } from '../store/secret-limits.ts';
import { newEtag } from '../store/secret-store.ts';
import {
  findSecret,
  isExpired,
  type Operation,
  pageOf,
  projectOf,
  requireEtag,
  secretName,
  wireSecret,
} from './operation.ts';

const DAY_MS = 86_400_000;

const Labels = z.record(z.string(), z.string()).default({});
const Encryption = z.object({ kmsKeyName: z.string() });
const encryption = { customerManagedEncryption: Encryption.optional() };
const Location = z.object({ location: z.string(), ...encryption });
const SentReplication = z.union([
  z.object({ automatic: z.object(encryption) }),
  z.object({ userManaged: z.object({ replicas: z.array(Location).min(1) }) }),
]);

/** A duration of 1 to 1000 days (https://cloud.google.com/secret-manager/docs/delay-destruction-of-secret-versions). */
const DestroyTtl = z
  .string()
  .regex(/^\d{1,9}s$/)
  .transform((text) => Number(text.slice(0, -1)) * 1000)
  .refine((ms) => ms >= DAY_MS && ms <= 1000 * DAY_MS);

const Sent = z.object({
  labels: Labels,
  annotations: Labels,
  etag: z.string().optional(),
  replication: SentReplication.optional(),
  customerManagedEncryption: Encryption.nullish().transform((given) => given ?? undefined),
  versionDestroyTtl: DestroyTtl.nullish().transform((given) => given ?? undefined),
  expireTime: z.iso
    .datetime()
    .nullish()
    .transform((given) => (given ? Date.parse(given) : undefined)),
});

export const createSecret: Operation = (context, input) => {
  const project = projectOf(context, input);
  const id = input.query.secretId ?? '';
  const { store, limits, nowMs } = context;
  limits.take('project', project, nowMs);
  validateId(id);
  const { labels, annotations, versionDestroyTtl, expireTime, ...sent } = Sent.parse(input.body);
  validateLabels(labels);
  const { replication, customerManagedEncryption } = sent;
  const storage: Storage = { location: input.location, replication, customerManagedEncryption };
  requireStorage(storage);
  context.keys.requireUsable(storage);
  const ref = { project, id, location: input.location };
  const existing = store.get(ref);
  if (existing && !isExpired(existing, nowMs))
    throw new GoogleError('ALREADY_EXISTS', `Secret [${secretName(context, ref)}] already exists.`);
  const secret: Secret = {
    ...ref,
    ...storage,
    versionDestroyTtlMs: versionDestroyTtl,
    expireAtMs: expireTime,
    labels,
    annotations,
    etag: newEtag(),
    versions: new Map(),
    position: store.nextPosition(),
    createdAtMs: nowMs,
    changedAtMs: nowMs,
  };
  store.save(secret);
  return wireSecret(context, secret);
};

export const getSecret: Operation = (context, input) => wireSecret(context, findSecret(context, input));

/** The fields of a secret that an update can change, as the mask names them. */
const changeable = [
  'labels',
  'annotations',
  'replication',
  'customerManagedEncryption',
  'versionDestroyTtl',
  'expireTime',
];

/**
 * Replaces the fields that the mask names. Of the storage, only the keys can be changed, which then apply to versions that
 * are added later (https://cloud.google.com/secret-manager/docs/reference/rest/v1/projects.secrets#Automatic).
 */
export const updateSecret: Operation = (context, input) => {
  const { store, limits, nowMs } = context;
  const secret = findSecret(context, input);
  limits.take('project', secret.project, nowMs);
  limits.take('secret', secretName(context, secret), nowMs);
  const mask = maskOf(input.query.updateMask);
  const sent = Sent.parse(input.body);
  requireEtag(secret.etag, sent.etag);
  validateLabels(sent.labels);
  if (mask.includes('labels')) secret.labels = sent.labels;
  if (mask.includes('annotations')) secret.annotations = sent.annotations;
  if (mask.includes('expireTime')) secret.expireAtMs = sent.expireTime;
  if (mask.includes('versionDestroyTtl')) secret.versionDestroyTtlMs = sent.versionDestroyTtl;
  const storage = { ...storageOf(secret), ...pick(mask, sent) };
  if (mask.includes('replication')) requireSameLocations(secret.replication, sent.replication);
  requireStorage(storage);
  if (mask.includes('replication') || mask.includes('customerManagedEncryption'))
    context.keys.requireUsable(storage);
  Object.assign(secret, storage, { etag: newEtag(), changedAtMs: nowMs });
  store.save(secret);
  return wireSecret(context, secret);
};

const storageOf = ({ location, replication, customerManagedEncryption }: Storage): Storage => ({
  location,
  replication,
  customerManagedEncryption,
});

const pick = (mask: readonly string[], sent: Pick<Storage, 'replication' | 'customerManagedEncryption'>) => ({
  ...(mask.includes('replication') ? { replication: sent.replication } : {}),
  ...(mask.includes('customerManagedEncryption')
    ? { customerManagedEncryption: sent.customerManagedEncryption }
    : {}),
});

/** The names in a mask may have underscores. */
function maskOf(given = ''): string[] {
  const mask = given
    .split(',')
    .filter(Boolean)
    .map((field) => field.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()));
  if (mask.length === 0) throw invalidArgument('update_mask', 'The update mask is required.');
  const unsupported = mask.find((field) => !changeable.includes(field));
  if (unsupported !== undefined)
    throw invalidArgument('update_mask', `The field '${unsupported}' cannot be updated.`);
  return mask;
}

export const deleteSecret: Operation = (context, input) => {
  const secret = findSecret(context, input);
  context.limits.take('project', secret.project, context.nowMs);
  requireEtag(secret.etag, input.query.etag);
  context.store.delete(secret);
  return {};
};

/** Returns secrets in order of creation, one page at a time. */
export const listSecrets: Operation = (context, input) => {
  const project = projectOf(context, input);
  refuseFilter(input.query.filter);
  const secrets = [...context.store.all()].filter(
    (secret) =>
      secret.project === project && secret.location === input.location && !isExpired(secret, context.nowMs),
  );
  const { shown, ...page } = pageOf(secrets, ({ position }) => position, input.query);
  return { secrets: shown.map((secret) => wireSecret(context, secret)), ...page };
};

/** @throws GoogleError for a filter, which the sandbox does not support here */
function refuseFilter(filter = ''): void {
  if (filter !== '') throw invalidArgument('filter', 'The sandbox does not support filters of secrets.');
}

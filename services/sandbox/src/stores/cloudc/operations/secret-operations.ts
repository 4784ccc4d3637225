import { z } from 'zod';
import { GoogleError, invalidArgument } from '../google-error.ts';
import { requireKeys, requireLocation } from '../store/replication-rules.ts';
import type { Replication, Secret } from '../store/secret.ts';
import { validateId, validateLabels } from '../store/secret-limits.ts';
import { newEtag } from '../store/secret-store.ts';
import {
  findSecret,
  type Operation,
  pageOf,
  projectOf,
  requireEtag,
  secretName,
  wireSecret,
} from './operation.ts';

const Labels = z.record(z.string(), z.string()).default({});
const encryption = { customerManagedEncryption: z.object({ kmsKeyName: z.string() }).optional() };
const Location = z.object({ location: z.string(), ...encryption });
const SentReplication = z.union([
  z.object({ automatic: z.object(encryption) }),
  z.object({ userManaged: z.object({ replicas: z.array(Location).min(1) }) }),
]);

export const createSecret: Operation = (context, input) => {
  const project = projectOf(context, input);
  const id = input.query.secretId ?? '';
  const { store, limits, nowMs } = context;
  limits.take('project', project, nowMs);
  validateId(id);
  const { labels, annotations, replication } = z
    .object({ labels: Labels, annotations: Labels, replication: SentReplication })
    .parse(input.body);
  validateLabels(labels);
  requireDistinct(replication);
  requireKeys(replication);
  if (store.get(project, id))
    throw new GoogleError('ALREADY_EXISTS', `Secret [${secretName(context, project, id)}] already exists.`);
  const secret: Secret = {
    project,
    id,
    replication,
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

function requireDistinct(replication: Replication): void {
  if ('automatic' in replication) return;
  const locations = replication.userManaged.replicas.map(({ location }) => location);
  if (new Set(locations).size < locations.length)
    throw invalidArgument('secret.replication', 'Replica locations must be distinct.');
  for (const location of locations) requireLocation(location);
}

export const getSecret: Operation = (context, input) => wireSecret(context, findSecret(context, input));

/** Replaces the fields that the mask names. The replication cannot be changed. */
export const updateSecret: Operation = (context, input) => {
  const { store, limits, nowMs } = context;
  const secret = findSecret(context, input);
  limits.take('project', secret.project, nowMs);
  limits.take('secret', secretName(context, secret.project, secret.id), nowMs);
  const mask = (input.query.updateMask ?? '').split(',').filter(Boolean);
  if (mask.length === 0) throw invalidArgument('update_mask', 'The update mask is required.');
  const unsupported = mask.find((field) => field !== 'labels' && field !== 'annotations');
  if (unsupported !== undefined)
    throw invalidArgument('update_mask', `The field '${unsupported}' cannot be updated.`);
  const sent = z
    .object({ labels: Labels, annotations: Labels, etag: z.string().optional() })
    .parse(input.body);
  requireEtag(secret.etag, sent.etag);
  validateLabels(sent.labels);
  if (mask.includes('labels')) secret.labels = sent.labels;
  if (mask.includes('annotations')) secret.annotations = sent.annotations;
  Object.assign(secret, { etag: newEtag(), changedAtMs: nowMs });
  store.save(secret);
  return wireSecret(context, secret);
};

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
  const secrets = [...context.store.all()].filter((secret) => secret.project === project);
  const { shown, ...page } = pageOf(secrets, ({ position }) => position, input.query);
  return { secrets: shown.map((secret) => wireSecret(context, secret)), ...page };
};

/** @throws GoogleError for a filter, which the sandbox does not support here */
function refuseFilter(filter = ''): void {
  if (filter !== '') throw invalidArgument('filter', 'The sandbox does not support filters of secrets.');
}

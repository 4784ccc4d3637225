import { z } from 'zod';
import { failedPrecondition, invalidArgument } from '../google-error.ts';
import { keysOf } from '../store/encryption-keys.ts';
import type { Secret, SecretVersion, VersionState } from '../store/secret.ts';
import { checksumOf, validatePayload } from '../store/secret-limits.ts';
import { newEtag } from '../store/secret-store.ts';
import {
  findSecret,
  findVersion,
  type Operation,
  type OperationContext,
  pageOf,
  requireEtag,
  secretName,
  settled,
  wireVersion,
} from './operation.ts';

const Payload = z.object({
  data: z.string().default(''),
  dataCrc32c: z.union([z.string(), z.number()]).transform(String).optional(),
});

export const addSecretVersion: Operation = (context, input) => {
  const { store, limits, nowMs } = context;
  const secret = findSecret(context, input);
  limits.take('project', secret.project, nowMs);
  limits.take('secret', secretName(context, secret), nowMs);
  const { payload } = z.object({ payload: Payload }).parse(input.body);
  const data = Buffer.from(payload.data, 'base64');
  validatePayload(data, payload.dataCrc32c);
  context.keys.requireUsable(secret);
  const version: SecretVersion = {
    number: ([...secret.versions.keys()].at(-1) ?? 0) + 1,
    state: 'ENABLED',
    data: data.toString('base64'),
    hasChecksum: payload.dataCrc32c !== undefined,
    etag: newEtag(),
    createdAtMs: nowMs,
    keys: keysOf(secret),
  };
  secret.changedAtMs = nowMs;
  store.save(secret, version);
  return wireVersion(context, secret, version);
};

export const getSecretVersion: Operation = (context, input) => {
  const { secret, version } = findVersion(context, input);
  return wireVersion(context, secret, version);
};

export const accessSecretVersion: Operation = (context, input) => {
  const { secret, version } = findVersion(context, input);
  const name = nameOf(context, secret, version);
  if (version.state !== 'ENABLED' || version.data === undefined)
    throw failedPrecondition(`Secret Version [${name}] is in ${version.state} state.`);
  context.keys.requireDecryption(version.keys ?? {});
  return {
    name,
    payload: { data: version.data, dataCrc32c: checksumOf(Buffer.from(version.data, 'base64')) },
  };
};

/** Returns versions, newest first. Of filters, only `state:` is supported. */
export const listSecretVersions: Operation = (context, input) => {
  const secret = findSecret(context, input);
  const state = stateIn(input.query.filter);
  const versions = [...secret.versions.values()]
    .map((version) => settled(version, context.nowMs))
    .filter((version) => state === undefined || version.state === state)
    .reverse();
  const { shown, ...page } = pageOf(versions, ({ number }) => -number + 1e9, input.query);
  return { versions: shown.map((version) => wireVersion(context, secret, version)), ...page };
};

function stateIn(filter = ''): string | undefined {
  const state = /^state[:=](ENABLED|DISABLED|DESTROYED)$/.exec(filter)?.[1];
  if (filter !== '' && state === undefined)
    throw invalidArgument('filter', 'The sandbox supports only filters such as state:ENABLED.');
  return state;
}

export const enableSecretVersion = transition('ENABLED');
export const disableSecretVersion = transition('DISABLED');
export const destroySecretVersion = transition('DESTROYED');

/**
 * Changes the state of a version. A destroyed version stays destroyed. With a delayed destruction, a version is disabled and
 * scheduled to be destroyed, which enabling or disabling it cancels
 * (https://cloud.google.com/secret-manager/docs/delay-destruction-of-secret-versions).
 */
function transition(state: VersionState): Operation {
  return (context, input) => {
    const { store, limits, nowMs } = context;
    const { secret, version } = findVersion(context, input);
    const name = nameOf(context, secret, version);
    limits.take('project', secret.project, nowMs);
    limits.take('version', name, nowMs);
    requireEtag(version.etag, input.body.etag);
    if (version.state === 'DESTROYED')
      throw failedPrecondition(`Secret Version [${name}] is in DESTROYED state.`);
    const changed = { ...version, ...stateAfter(state, secret, nowMs), etag: newEtag() };
    store.save(secret, changed);
    return wireVersion(context, secret, changed);
  };
}

function stateAfter(
  state: VersionState,
  { versionDestroyTtlMs: delayMs }: Secret,
  nowMs: number,
): Partial<SecretVersion> & Pick<SecretVersion, 'state'> {
  if (state !== 'DESTROYED') return { state, scheduledDestroyAtMs: undefined };
  return delayMs === undefined
    ? { state, data: undefined, destroyedAtMs: nowMs }
    : { state: 'DISABLED', scheduledDestroyAtMs: nowMs + delayMs };
}

const nameOf = (context: OperationContext, secret: Secret, { number }: SecretVersion): string =>
  `${secretName(context, secret)}/versions/${number}`;

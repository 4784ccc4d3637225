import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { checkName, checkTags, checkValue } from './secret-limits.ts';
import { newestOf, type Secret, type SecretVersion } from './store/secret.ts';
import { inTransition, type VaultStore } from './store/vault-store.ts';
import type { Vaults } from './store/vaults.ts';
import { badParameter, conflict, forbidden, secretNotFound } from './vault-error.ts';
import { type DenyPolicies, requirePermitted } from './vault-policies.ts';
import { type BundleContext, deletedBundle, secretBundle, secretItem } from './wire-format.ts';

const DAY_MS = 86_400_000;
const MAX_PAGE = 25;

/** Durations of a deletion, a recovery and a purge. */
interface VaultDelays {
  deletionMs: number;
  recoveryMs: number;
  purgeMs: number;
}

/** Context of an operation: the vaults, the one that the request names, and the time. */
export interface OperationContext extends VaultDelays, BundleContext {
  vaults: Vaults;
  vault: VaultStore;
  policies: DenyPolicies;
  nowMs: number;
}

/** The parts of a request. */
interface VaultRequest {
  name: string;
  version: string;
  query: Readonly<Record<string, unknown>>;
  body: unknown;
}

/** Returns the content of the response; undefined for one without content. */
type Operation = (context: OperationContext, request: VaultRequest) => object | undefined;

const Attributes = z.object({ enabled: z.boolean(), nbf: z.int(), exp: z.int() }).partial();
const Properties = z.object({
  contentType: z.string().max(255).nullish(),
  tags: z.record(z.string(), z.string()).nullish(),
  attributes: Attributes.nullish(),
});
const Sent = Properties.extend({ value: z.string() });

const setSecret: Operation = ({ vault, vaults, policies, nowMs, ...context }, { name, body }) => {
  checkName(name);
  const { value, tags, contentType, attributes } = parse(Sent, body);
  checkValue(value);
  checkTags(tags ?? {});
  vaults.requireCapacity();
  const existing = vault.get(name);
  if (existing) requireWritable(existing);
  const version: SecretVersion = {
    id: randomUUID().replaceAll('-', ''),
    value,
    contentType: contentType ?? undefined,
    tags: tags ?? {},
    ...attributes,
    enabled: attributes?.enabled ?? true,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  };
  const secret: Secret = existing ?? { name, versions: new Map(), newest: '', managed: false };
  requirePermitted(policies, secret, { version, nowMs });
  secret.newest = version.id;
  vault.save(secret, version);
  return secretBundle(context, vault, secret, version);
};

function requireWritable(secret: Secret): void {
  if (secret.transition) throw inTransition(secret);
  requireUnmanaged(secret);
  if (secret.deletedAtMs === undefined) return;
  throw conflict(
    'ObjectIsDeletedButRecoverable',
    `Secret ${secret.name} is currently in a deleted but recoverable state, and its name cannot be reused; in this state, the secret can only be recovered or purged.`,
  );
}

function requireUnmanaged({ name, managed }: Secret): void {
  if (managed)
    throw forbidden(
      'SecretManagedByKeyVault',
      `Secret ${name} is managed by Key Vault and cannot be changed by a user.`,
    );
}

const getSecret: Operation = ({ vault, ...context }, { name, version: id }) => {
  const secret = vault.active(name);
  const version = id === '' ? newestOf(secret) : secret.versions.get(id);
  if (!version) throw secretNotFound(`${name}/${id}`);
  if (!version.enabled)
    throw forbidden('SecretDisabled', 'Operation get is not allowed on a disabled secret.');
  return secretBundle(context, vault, secret, version);
};

/** A property that is not sent keeps its value; tags are replaced as a whole. */
const updateSecret: Operation = ({ vault, policies, nowMs, ...context }, { name, version: id, body }) => {
  const secret = vault.active(name);
  requireUnmanaged(secret);
  const present = id === '' ? newestOf(secret) : secret.versions.get(id);
  if (!present) throw secretNotFound(`${name}/${id}`);
  const { tags, contentType, attributes } = parse(Properties, body);
  checkTags(tags ?? {});
  const changed: SecretVersion = {
    ...present,
    ...attributes,
    enabled: attributes?.enabled ?? present.enabled,
    tags: tags ?? present.tags,
    contentType: contentType ?? present.contentType,
    updatedAtMs: nowMs,
  };
  requirePermitted(policies, secret, { version: changed, nowMs });
  vault.save(secret, changed);
  const { value: _, ...bundle } = secretBundle(context, vault, secret, changed);
  return bundle;
};

const deleteSecret: Operation = ({ vault, nowMs, deletionMs, ...context }, { name }) => {
  const secret = vault.active(name);
  requireUnmanaged(secret);
  secret.deletedAtMs = nowMs;
  secret.purgeAtMs = nowMs + context.retentionDays * DAY_MS;
  if (deletionMs > 0) secret.transition = { to: 'deleted', untilMs: nowMs + deletionMs };
  vault.save(secret);
  return deletedBundle(context, vault, secret);
};

/** While the secret is still being deleted, it is in neither state. */
const getDeletedSecret: Operation = ({ vault, ...context }, { name }) => {
  const secret = vault.get(name);
  if (!secret || secret.transition || secret.deletedAtMs === undefined) throw secretNotFound(name);
  return deletedBundle(context, vault, secret);
};

const recoverDeletedSecret: Operation = ({ vault, nowMs, recoveryMs, ...context }, { name }) => {
  const secret = vault.deleted(name);
  secret.transition = { to: 'active', untilMs: nowMs + recoveryMs };
  vault.save(secret);
  const { value: _, ...bundle } = secretBundle(context, vault, secret, newestOf(secret));
  return bundle;
};

const purgeDeletedSecret: Operation = ({ vault, nowMs, purgeMs, purgeProtection }, { name }) => {
  const secret = vault.deleted(name);
  if (purgeProtection)
    throw forbidden(
      'ForbiddenByPolicy',
      'Operation "purge" is not allowed because purge protection is enabled for this vault.',
    );
  secret.transition = { to: 'purged', untilMs: nowMs + purgeMs };
  vault.save(secret);
  return undefined;
};

const listSecrets: Operation = ({ vault, ...context }, { query }) => {
  const active = vault
    .all()
    .filter(({ deletedAtMs, transition }) => deletedAtMs === undefined && !transition);
  return page(vault, 'secrets', query, active, (secret) =>
    secretItem(context, vault, secret, newestOf(secret)),
  );
};

const listDeletedSecrets: Operation = ({ vault, ...context }, { query }) => {
  const deleted = vault
    .all()
    .filter(({ deletedAtMs, transition }) => deletedAtMs !== undefined && !transition);
  return page(vault, 'deletedsecrets', query, deleted, (secret) => {
    const { value: _, ...item } = deletedBundle(context, vault, secret);
    return item;
  });
};

const listVersions: Operation = ({ vault, ...context }, { name, query }) => {
  const secret = vault.active(name);
  const versions = [...secret.versions.values()];
  return page(vault, `secrets/${name}/versions`, query, versions, (version) =>
    secretItem(context, vault, secret, version, version.id),
  );
};

/** https://learn.microsoft.com/rest/api/keyvault/secrets/get-secrets/get-secrets: at most 25 to a page. */
function page<Item>(
  { host }: VaultStore,
  path: string,
  query: VaultRequest['query'],
  items: Item[],
  show: (item: Item) => object,
): object {
  const size = Number(query.maxresults ?? MAX_PAGE);
  if (!(size >= 1 && size <= MAX_PAGE)) throw badParameter('maxresults must be between 1 and 25.');
  const start = Number(query.$skiptoken ?? 0);
  const end = start + size;
  const next = `https://${host}/${path}?api-version=${String(query['api-version'])}&$skiptoken=${end}&maxresults=${size}`;
  return { value: items.slice(start, end).map(show), nextLink: end < items.length ? next : null };
}

function parse<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const property = String(parsed.error.issues[0]?.path.join('.') ?? '');
  throw badParameter(`Property ${property} has invalid value.`);
}

/** The operations of the API on secrets. */
export const operations = {
  SetSecret: setSecret,
  GetSecret: getSecret,
  UpdateSecret: updateSecret,
  DeleteSecret: deleteSecret,
  GetSecrets: listSecrets,
  GetSecretVersions: listVersions,
  GetDeletedSecret: getDeletedSecret,
  GetDeletedSecrets: listDeletedSecrets,
  RecoverDeletedSecret: recoverDeletedSecret,
  PurgeDeletedSecret: purgeDeletedSecret,
} satisfies Record<string, Operation>;

export type OperationName = keyof typeof operations;

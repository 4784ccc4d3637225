/** Removes from a response what two servers cannot have in common: IDs, times, sentences. */

/** Fields whose text is an ID of the server: only whether they are empty is compared. */
const ids = new Set([
  'accessor',
  'id',
  'migration_id',
  'uuid',
  'client_token',
  'entity_id',
  'namespace_id',
  'token',
]);
/** Fields with a time. */
const times = new Set([
  'created_time',
  'creation_time',
  'deletion_time',
  'expire_time',
  'issue_time',
  'last_renewal',
  'last_renewal_time',
  'updated_time',
]);
/** Fields with a remaining time in seconds, of which a few may have passed. */
const lifetimes = new Set(['ttl', 'lease_duration']);
const tolerance = 60;

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/**
 * Returns a response body without the request ID, and with placeholders for values that differ between runs, such as
 * IDs and times.
 */
export function normalised(value: Json | undefined): Json {
  if (value === undefined) return null;
  if (Array.isArray(value)) return value.map(normalised);
  if (value === null || typeof value !== 'object') return value;
  const fields = Object.entries(value).filter(([name]) => name !== 'request_id');
  return Object.fromEntries(fields.map(([name, field]) => [name, normalisedField(name, field)]));
}

function normalisedField(name: string, value: Json): Json {
  if (ids.has(name) && typeof value === 'string') return value && `<${name}>`;
  if (times.has(name) && (typeof value === 'string' || typeof value === 'number')) return value && '<time>';
  if (lifetimes.has(name) && typeof value === 'number') return Math.ceil(value / tolerance) * tolerance;
  if (name === 'errors' && Array.isArray(value)) return value.length === 0 ? [] : ['<sentence>'];
  if (name === 'warnings') return Array.isArray(value) && value.length > 0 ? ['<sentence>'] : null;
  if (Array.isArray(value) && value.every(isCapability)) return value.toSorted();
  return normalised(value);
}

/** The order of capabilities has no meaning. */
const isCapability = (value: Json): boolean =>
  typeof value === 'string' && /^(create|read|update|patch|delete|list|sudo|deny|root)$/.test(value);

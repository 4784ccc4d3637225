import { invalid } from '../problem.ts';
import { seconds } from './lenient-fields.ts';

/**
 * Fields by which the caller states a condition of the request, or how a value or an access is to be protected or limited.
 * Where one of them is unknown, ignoring it would do what the caller wanted to prevent. The names are those of the public APIs
 * of Vault and OpenBao, and of the providers' stores, with the forms in which they occur at several endpoints.
 */
const conditions = [
  /^(?:.+_)?cas$/, // options.cas, metadata_cas
  /^(?:check_and_set|if_.+|expected_.+)$/,
  /^(?:dry_run|check_only|validate_only|patch_only|recover_snapshot_id|read_snapshot_id)$/,
];
const protections = [
  /(?:^|_)(?:kms|cmek|cmk|encryption|encrypted|hsm)(?:_|$)/,
  /^(?:sensitive|seal_wrap|wrap_.+|wrapping_.+|(?:min|max)_wrapping_ttl|locational_kms_keys)$/,
  /^(?:replica|replication)_.+$/,
  /^(?:.+_)?required$|^required_.+$/, // cas_required, metadata_cas_required
  /^(?:token_)?bound_.+$|^(?:.+_)?(?:cidrs?|cidr_list|cidr_blocks)$|^token_strictly_bind_ip$/,
  /^(?:allowed|disallowed|denied|excluded)_.+$/,
  /^(?:.+_)?ttl$|^(?:lease|expiration|expires?_(?:at|in|after|time)|expiry|not_after|delete_version_after)$/,
  /^(?:token_)?(?:num_uses|no_default_policy|max_age)$|^max_token_age$/,
  /^(?:disabled|immutable|read_only|deletion_protection|prevent_destroy|require_.+|enforce_.+)$/,
  /^(?:mfa_.+|control_group)$/,
  /^(?:seal|pgp_keys)$/, // of a namespace
];

/** Values that ask for nothing. */
const isInert = (value: unknown): boolean =>
  value === false ||
  value === 'false' ||
  seconds.safeParse(value).data === 0 ||
  (typeof value === 'object' && value !== null && Object.keys(value).length === 0);

/**
 * Throws `invalid` if an unknown field is a condition or a protection (docs/conventions/http.md#bodies). Others may be ignored.
 */
export function refuseProtective(path: string, value: unknown): void {
  const name = path.slice(path.lastIndexOf('.') + 1).toLowerCase();
  if (value === undefined || value === null) return;
  const isDropped =
    conditions.some((form) => form.test(name)) ||
    (!isInert(value) && protections.some((form) => form.test(name)));
  if (isDropped)
    throw invalid(`${path}: is not supported here; without it, the request would mean something else`);
}

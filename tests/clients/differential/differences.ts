import type { Deviation } from './compared.ts';
import type { Json } from './normalised.ts';
import type { Step } from './operations.ts';

/** A difference between this service and OpenBao that stays. docs/clients.md lists them for users. */
export interface Difference {
  /** What this service does, and where it is not obvious, what OpenBao does. */
  title: string;
  /** Whether it explains this deviation. */
  explains(deviation: Deviation, step: Step): boolean;
  /** Whether later responses differ because of it, so that the sequence ends. */
  ends?: true;
}

const status =
  (ours: number[], theirs: number[], applies: (step: Step) => boolean = () => true) =>
  ({ at, ...values }: Deviation, step: Step): boolean =>
    at === 'status' &&
    ours.includes(values.ours as number) &&
    theirs.includes(values.theirs as number) &&
    applies(step);

/** Fields that only one of the servers returns. */
const onlyIn =
  (side: 'ours' | 'theirs', path: RegExp, field: RegExp) =>
  (deviation: Deviation, step: Step): boolean =>
    deviation[side === 'ours' ? 'theirs' : 'ours'] === undefined &&
    path.test(step.path) &&
    field.test(deviation.at);

const matches =
  (pattern: RegExp) =>
  ({ path }: Step): boolean =>
    pattern.test(path);

const isEmpty = (value: Json | undefined): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 0;

const hasEmptyMetadata = ({ body }: Step): boolean =>
  Object.values((body?.custom_metadata ?? {}) as object).includes('');

const hasVersionZero = ({ body }: Step): boolean =>
  Array.isArray(body?.versions) && body.versions.includes(0);

const isMetadata = (at: string): boolean => at.startsWith('data.custom_metadata');

const createsByName = /^(sys[/](policies[/]acl|policy|namespaces|mounts)[/]|auth[/]token[/]create)/;

const envelope = /^(data|auth|wrap_info|warnings|errors|mount_type|lease_id|lease_duration|renewable)\b/;

export const differences: Difference[] = [
  {
    title: 'What does not exist is 404; OpenBao returns 400, 403 or 500 for some of it.',
    explains: status([404], [400, 403, 500], matches(/^(auth[/]token|sys)[/]/)),
  },
  {
    title: 'A conflict with an existing object is 409, not 400.',
    explains: status([409], [400]),
  },
  {
    title: 'An unknown namespace is 403, unless the token may use one above it.',
    explains: status([403], [404], ({ namespace }) => namespace !== ''),
  },
  {
    title: 'Most responses of `sys/` have their data only in `data`; OpenBao repeats it at the top level.',
    explains: (deviation, step) =>
      onlyIn('theirs', /^sys[/]/, /./)(deviation, step) && !envelope.test(deviation.at),
  },
  {
    title: 'Lists of policies contain `root` in every namespace.',
    explains: ({ at, ours, theirs }, step) =>
      /^sys[/]polic/.test(step.path) &&
      /^data[.](keys|policies)$/.test(at) &&
      Array.isArray(ours) &&
      JSON.stringify(ours.filter((name) => name !== 'root')) === JSON.stringify(theirs),
  },
  {
    title: 'Version 0 of a secret is refused; OpenBao ignores it.',
    explains: status([400], [204], hasVersionZero),
  },
  {
    title: 'Namespaces can be addressed by their whole path, without the header.',
    explains: status([200, 204, 404, 409], [400], matches(/^sys[/]namespaces[/].+[/]/)),
  },
  {
    title: 'A value of `custom_metadata` may be empty.',
    explains: status([200, 204, 400, 404], [200, 204, 400, 404], hasEmptyMetadata),
  },
  {
    title: 'A batch token cannot be periodic; OpenBao ignores the period.',
    explains: status(
      [400, 403],
      [200],
      ({ path, body }) => /^auth[/]token[/]create/.test(path) && body?.type === 'batch',
    ),
  },
  {
    title: 'A request with several faults may be refused for another one first.',
    explains: (deviation, step) =>
      status([400, 403], [400, 403], matches(/^auth[/]token[/]/))(deviation, step) ||
      status(
        [404],
        [400],
        ({ method, path }) => method === 'PATCH' && path.includes('/data/'),
      )(deviation, step),
  },
  {
    title: 'A batch token may have an `explicit_max_ttl`.',
    explains: status(
      [200],
      [400],
      ({ path, body }) => /^auth[/]token[/]create/.test(path) && body?.type === 'batch',
    ),
  },
  {
    title: 'A lifetime ends with that of the parent token, with a warning; OpenBao returns a later time.',
    explains: ({ at, ours, theirs }, { path }) =>
      /^auth[/]token[/]/.test(path) &&
      (at === 'warnings'
        ? ours !== null && theirs === null
        : /(lease_duration|ttl)$/.test(at) && Number(ours) < Number(theirs)),
  },
  {
    title:
      'A renewal without an increment extends by the TTL of the token; OpenBao extends by the previous increment.',
    explains: ({ at }, { path, body }) =>
      /^auth[/]token[/]renew/.test(path) && at === 'auth.lease_duration' && !body?.increment,
    ends: true,
  },
  {
    title: 'A renewal by accessor never shortens a token; OpenBao sets the increment.',
    explains: ({ at }, { path, body }) =>
      path === 'auth/token/renew-accessor' &&
      /^(auth[.]lease_duration|warnings)/.test(at) &&
      body?.increment !== undefined,
    ends: true,
  },
  {
    title: 'A renewal shows whether the token is an orphan now; OpenBao shows whether it was created as one.',
    explains: ({ at, ours }, { path }) =>
      /^auth[/]token[/]renew/.test(path) && at === 'auth.orphan' && ours === true,
  },
  {
    title: '`create` suffices to create a policy, a namespace, a mount or a token; OpenBao needs `update`.',
    explains: status([200, 204], [403], ({ method, path }) => method !== 'GET' && createsByName.test(path)),
  },
  {
    title: 'A token for another namespace needs policies in the request.',
    explains: status(
      [400],
      [200],
      ({ path, namespace }) => /^auth[/]token[/]create/.test(path) && namespace !== '',
    ),
  },
  {
    title:
      'A mount has moved, and a namespace is unusable, when the response arrives; OpenBao does both in the background.',
    explains: ({ at }, { method, path }) =>
      (path === 'sys/remount' && at === 'warnings') ||
      (method === 'DELETE' && /^sys[/]namespaces[/]/.test(path) && /^(data|warnings)/.test(at)),
  },
  {
    title: 'A token can look up, renew and revoke itself under the name of any namespace.',
    explains: status([200, 204], [404], ({ path, namespace }) => namespace !== '' && path.endsWith('-self')),
  },
  {
    title: 'Moving a mount to its own path succeeds.',
    explains: status([200], [400], ({ path, body }) => path === 'sys/remount' && body?.from === body?.to),
  },
  {
    title: 'A shortened default TTL causes no warning.',
    explains: ({ at, ours }, { path, body }) =>
      /^auth[/]token[/]create/.test(path) && at === 'warnings' && ours === null && body?.ttl === undefined,
  },
  {
    title: '`sys/policy` returns the text as `policy` and as `rules`.',
    explains: onlyIn('ours', /^sys[/]policy[/]/, /^data[.]policy$/),
  },
  {
    title: 'POST of a namespace keeps the `custom_metadata` that it omits.',
    explains: ({ at }, { method, path, body }) =>
      method === 'POST' && path.startsWith('sys/namespaces/') && !body?.custom_metadata && isMetadata(at),
  },
  {
    title: 'PATCH of a namespace needs `custom_metadata`.',
    explains: status(
      [400],
      [200],
      ({ method, path, body }) => method === 'PATCH' && /^sys[/]n/.test(path) && !body?.custom_metadata,
    ),
  },
  {
    title: 'The capabilities of a token of a namespace above are 404.',
    explains: status(
      [404],
      [200],
      ({ path, namespace }) => /^sys[/]capabilities/.test(path) && namespace !== '',
    ),
  },
  {
    title: 'Revoking by the accessor of a revoked token is 404; OpenBao may return 200 with a warning.',
    explains: status([404], [200], matches(/revoke-accessor$/)),
  },
  {
    title: 'Revoking a token that does not exist succeeds.',
    explains: status([204], [400, 403], matches(/^auth[/]token[/]revoke/)),
  },
  {
    title: 'PATCH of the metadata of a secret that does not exist is 404, also without fields.',
    explains: status([404], [204], matches(/[/]metadata[/]/)),
  },
  {
    title: 'A 404 always has a body.',
    explains: ({ at, theirs }) => at === '' && theirs === null,
  },
  {
    title: 'An empty object or list is not null.',
    explains: ({ ours, theirs }) => isEmpty(ours) && (theirs === null || theirs === undefined),
  },
  {
    title: 'Tokens show `identity_policies`, and below the root namespace `namespace_path`.',
    explains: onlyIn('ours', /^auth[/]token[/]/, /^(data|auth)[.](identity_policies|namespace_path)$/),
  },
  {
    title: 'Mounts show the settings of their secrets in `config`.',
    explains: onlyIn(
      'ours',
      /^sys[/](mounts|internal)/,
      /config[.](max_versions|cas_required|delete_version_after)$/,
    ),
  },
  {
    title:
      'Fields of functions that do not exist here are absent: MFA, versions of policies and of metadata, leases of key-value stores.',
    explains: onlyIn(
      'theirs',
      /./,
      /[.](mfa_requirement|metadata_cas_required|current_metadata_version|allow_\w+_in_identity_templates|cas_required|version|modified|default_lease_ttl|max_lease_ttl)$/,
    ),
  },
  {
    title:
      'Mounts show an empty `running_plugin_version`, because engines are parts of the service, and always a `deprecation_status`.',
    explains: ({ at, ours, theirs }) =>
      (at.endsWith('running_plugin_version') && ours === '') ||
      (at.endsWith('deprecation_status') && theirs === undefined),
  },
  {
    title: 'Built-in mounts (`sys`, `identity`, `cubbyhole`) are not listed.',
    explains: onlyIn('theirs', /^sys[/]mounts$/, /^data[.](cubbyhole|identity|sys)[/]/),
  },
];

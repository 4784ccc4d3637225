/** A request of a client, with the status of its response. */
export type UnsupportedRequest = readonly [status: number, verb: string, path: string, body?: object];

const path = 'path "secret/*" { capabilities = ["read"] }';
const withRule = (rule: string) => ({ policy: path.replace(' }', ` ${rule} }`) });
const policy = 'sys/policies/acl/unsupported';
const authMount = (config: object) => ({ type: 'azure', config });

/**
 * Requests that show what does not work. The keys are the first column of the table in docs/clients.md, and the statuses are
 * those of its second column, except for what succeeds without an effect.
 */
export const unsupported: Readonly<Record<string, readonly UnsupportedRequest[]>> = {
  'key-value stores of version 1 (`KVv1`, `secrets.kv.v1`, `kv put` on such a mount)': [
    [400, 'POST', 'sys/mounts/old', { type: 'kv', options: { version: '1' } }],
  ],
  'other secrets engines: PKI, transit, databases, SSH, cubbyhole, …': [
    ...['pki', 'transit', 'database', 'ssh', 'cubbyhole', 'totp', 'aws'].map(
      (type) => [400, 'POST', `sys/mounts/${type}-1`, { type }] as const,
    ),
    [404, 'POST', 'transit/encrypt/key', { plaintext: 'eA==' }],
    [404, 'GET', 'cubbyhole/a'],
  ],
  'login methods other than `azure`, `jwt` and `kubernetes`': [
    ...['approle', 'userpass', 'aws', 'ldap'].map(
      (type) => [400, 'POST', `sys/auth/${type}`, { type }] as const,
    ),
    [404, 'POST', 'auth/approle/login', { role_id: 'a', secret_id: 'b' }],
  ],
  'moving an auth mount (`sys/remount` from or to `auth/…`; a changed `path` in Terraform)': [
    [400, 'POST', 'sys/remount', { from: 'auth/azure', to: 'auth/other' }],
  ],
  '`kv scan`, `namespace scan` (`scan=true`), `detailed-metadata`': [
    [405, 'GET', 'unsupported/metadata/?scan=true'],
    [405, 'GET', 'sys/namespaces/?scan=true'],
    [405, 'LIST', 'unsupported/detailed-metadata/'],
  ],
  '`sys/leases/…`; `renew` and `revoke` of a lease': [
    [404, 'POST', 'sys/leases/lookup', { lease_id: 'a' }],
    [404, 'POST', 'sys/leases/renew', { lease_id: 'a' }],
    [404, 'POST', 'sys/leases/revoke', { lease_id: 'a' }],
    [404, 'POST', 'sys/renew', { lease_id: 'a' }],
    [404, 'POST', 'sys/revoke', { lease_id: 'a' }],
  ],
  'writes to `sys/audit/<name>`': [
    [404, 'POST', 'sys/audit/file', { type: 'file', options: { file_path: 'stdout' } }],
    [404, 'DELETE', 'sys/audit/file'],
  ],
  '`sys/plugins`, `sys/config`, `sys/raft`, `sys/generate-root`, `sys/seal`, `sys/unseal`, `operator …` except `vault operator rotate`':
    [
      [404, 'GET', 'sys/plugins/catalog'],
      [404, 'GET', 'sys/config/cors'],
      [404, 'GET', 'sys/storage/raft/configuration'],
      [404, 'GET', 'sys/generate-root/attempt'],
      [404, 'POST', 'sys/seal'],
      [404, 'POST', 'sys/unseal', { key: 'a' }],
      [404, 'GET', 'sys/rekey/init'],
      [404, 'POST', 'sys/rotate/keyring'], // bao operator rotate
    ],
  '`bao login -method=…`, except `-method=token`': [
    [404, 'POST', 'auth/userpass/login/me', { password: 'x' }],
  ],
  'lease TTLs of key-value mounts, `local`, `seal_wrap`, headers and other settings of mounts': [
    [
      204,
      'POST',
      'sys/mounts/settings',
      {
        type: 'kv',
        local: true,
        seal_wrap: true,
        config: {
          default_lease_ttl: '1h',
          passthrough_request_headers: ['a'],
        },
      },
    ],
  ],
  '`token_type` other than `default-service`, and `user_lockout_config` of an auth mount': [
    [400, 'POST', 'sys/auth/typed', authMount({ token_type: 'batch' })],
    [400, 'POST', 'sys/auth/locked', authMount({ user_lockout_config: { lockout_threshold: '3' } })],
  ],
  '`seal` and `pgp_keys` of a namespace; `plugin_name` of a mount, other than its type': [
    [400, 'POST', 'sys/namespaces/sealed', { seal: { type: 'shamir' } }],
    [400, 'POST', 'sys/namespaces/sealed', { pgp_keys: ['a'] }],
    [400, 'POST', 'sys/mounts/plugin', { type: 'kv', plugin_name: 'other' }],
  ],
  'internal groups (`type: internal`, `member_entity_ids`, `member_group_ids`); a group without a type is external':
    [
      [400, 'POST', 'identity/group', { name: 'g', type: 'internal' }],
      [400, 'POST', 'identity/group', { name: 'g', member_entity_ids: ['a'] }],
      [400, 'POST', 'identity/group', { name: 'g', member_group_ids: ['a'] }],
    ],
  '`identity/entity/merge`, OIDC provider, MFA, Sentinel, password policies': [
    [404, 'POST', 'identity/entity/merge', { from_entity_ids: ['a'], to_entity_id: 'b' }],
    [404, 'GET', 'identity/oidc/provider/default'],
    [404, 'POST', 'identity/mfa/method/totp', { issuer: 'a' }],
    [404, 'POST', 'sys/policies/egp/a', { policy: 'x' }],
    [404, 'POST', 'sys/policies/rgp/a', { policy: 'x' }],
    [404, 'POST', 'sys/policies/password/a', { policy: 'x' }],
  ],
  '`control_group` and `pagination_limit` in a policy': [
    [400, 'POST', policy, withRule('control_group = { factor "a" { identity { group_names = ["g"] } } }')],
    [400, 'POST', policy, withRule('pagination_limit = 5')],
  ],
  '`expiration` in a path of a policy; `expiration`, `ttl`, `cas`, and slashes or wildcards in templates of `sys/policies/acl/<name>`':
    [
      [400, 'POST', policy, withRule('expiration = "2100-01-01T00:00:00Z"')],
      [400, 'POST', policy, { policy: path, expiration: '2100-01-01T00:00:00Z' }],
      [400, 'POST', policy, { policy: path, ttl: '1h' }],
      [400, 'POST', policy, { policy: path, cas: 1 }],
    ],
  '`sys/quotas/config`, `sys/quotas/lease-count`': [
    [404, 'GET', 'sys/quotas/config'],
    [404, 'POST', 'sys/quotas/lease-count/a', { max_leases: 5 }],
  ],
  '`sys/internal/counters`, license, replication': [
    [404, 'GET', 'sys/internal/counters/activity'],
    [404, 'GET', 'sys/license/status'],
    [404, 'GET', 'sys/replication/status'],
  ],
};

import type { Deviation } from './compare.ts';

/** A difference from what another server publishes that stays. */
interface Difference {
  reason: string;
  part: Deviation['part'];
  operation: RegExp;
  field: RegExp;
}

/** docs/clients.md states those that users may notice. */
export const differences: Difference[] = [
  {
    reason: 'no login method locks users out',
    part: 'response',
    operation: /tune$/,
    field: /^user_lockout_/,
  },
  {
    reason: 'mounts of secrets issue no tokens',
    part: 'response',
    operation: /^GET \/v1\/sys\/mounts\/\{\}\/tune$/,
    field: /^token_type$/,
  },
  {
    reason: 'the document has one form for any mount paths, and belongs to no user interface',
    part: 'query',
    operation: /specs\/openapi$/,
    field: /^(?:context|generic_mount_paths)$/,
  },
  {
    reason: 'there is neither Raft nor replication; the servers omit these where there is none',
    part: 'response',
    operation: /sys\/leader$/,
    field: /^(?:last_wal|raft_\w+)$/,
  },
  {
    reason:
      'the servers return them for sys/policy only, as this one does, or with the other name of the text',
    part: 'response',
    operation: /sys\/policies\/acl/,
    field: /^(?:policies|rules)$/,
  },
  {
    reason:
      'there is no link to a hosted service, no recovery seal and no date of a commit; clients do without',
    part: 'response',
    operation: /seal-status$/,
    field: /^(?:hcp_link_\w+|commit_date|recovery_seal_type)$/,
  },
  {
    reason: 'a token in a query would be logged on its way: it is in the header or the body',
    part: 'query',
    operation: /wrapping\/lookup$/,
    field: /^token$/,
  },
  {
    reason: 'they belong to the GET of the path; documents repeat them at each verb, and servers ignore them',
    part: 'request',
    operation: /\{\}\/(?:data|metadata)\/\{\}$/,
    field: /^(?:version|after|limit)$/,
  },
  {
    reason: 'the recorded response of the path is that of a read; OpenAPI has one operation for both',
    part: 'response',
    operation: /\{\}\/metadata\/\{\}$/,
    field: /^keys$/,
  },
  {
    reason: 'there only for a single path, as here; its recorded response is a map of paths',
    part: 'response',
    operation: /capabilities-self$/,
    field: /^capabilities$/,
  },
  {
    reason: 'a token has policies of its own namespace only',
    part: 'response',
    operation: /auth\/token\/lookup/,
    field: /^external_namespace_policies$/,
  },
  {
    reason:
      'shown below the root namespace only, where the examples are not made: clients put it before their paths',
    part: 'response',
    operation: /auth\/token\/lookup/,
    field: /^namespace_path$/,
  },
  {
    reason: 'the times of an alias are not kept; those of its entity or group are',
    part: 'response',
    operation: /identity\/\w+-alias\/id/,
    field: /^(?:creation|last_update)_time$/,
  },
  {
    reason: 'null after a creation; the entity can be read',
    part: 'response',
    operation: /POST \/v1\/identity\/entity$/,
    field: /^aliases$/,
  },
  {
    reason: 'there are keys of several services, and they are shown by service',
    part: 'response',
    operation: /key-status$/,
    field: /^(?:encryptions|install_time|term)$/,
  },
  {
    reason: 'a namespace has no seal of its own',
    part: 'response',
    operation: /sys\/namespaces/,
    field: /^key_(?:shares|threshold)$/,
  },
  {
    reason: 'there is no multi-factor authentication; null there',
    part: 'response',
    operation: /auth\/token/,
    field: /^mfa_requirement$/,
  },
  {
    reason: 'policies have no versions, and do not expire',
    part: 'response',
    operation: /sys\/polic/,
    field: /^(?:cas_required|expiration|modified|version|allow_\w+_in_identity_templates)$/,
  },
  {
    reason: 'names of policies are listed as a whole',
    part: 'query',
    operation: /sys\/polic/,
    field: /^list$/,
  },
  {
    reason: 'refused with 405: namespaces and secrets are listed level by level',
    part: 'query',
    operation: /./,
    field: /^scan$/,
  },
];

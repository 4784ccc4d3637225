# Operator: runs the service without reading a secret value.
# Mounts, destinations and what is associated with them, policies of others, the audit log.
#
# An association needs a caller who may read the secret, so an operator removes and repairs associations, and sets none.
# Whoever changes where a destination leads has values sent there: compare its changes in the audit log.

path "sys/mounts" { capabilities = ["read", "list"] }
path "sys/mounts/*" { capabilities = ["create", "read", "update", "delete"] }
path "sys/mounts/auth/*" { capabilities = ["read"] } # another name of sys/auth/<path>
path "sys/remount" { capabilities = ["update", "sudo"] }
path "sys/remount/status/*" { capabilities = ["read"] }
path "+/config" { capabilities = ["create", "read", "update"] }
path "+/metadata/*" { capabilities = ["list", "read"] }

path "sys/sync/*" { capabilities = ["create", "read", "update", "patch", "delete", "list"] }
path "sys/sync/confirm-installation" { capabilities = ["update", "sudo"] }

# Not those that apply to operators, nor that of those who check them. sys/policy is another name of the same policies.
path "sys/policies/acl" { capabilities = ["list"] }
path "sys/policies/acl/*" { capabilities = ["create", "read", "update", "delete"] }
path "sys/policies/acl/operator" { capabilities = ["read"] }
path "sys/policies/acl/auditor" { capabilities = ["read"] }
path "sys/policies/acl/default" { capabilities = ["read"] }

# Sign-in methods and roles are read only: they decide who gets which policy.
path "sys/auth" { capabilities = ["read", "list"] }
path "sys/auth/*" { capabilities = ["read"] }
path "auth/+/config" { capabilities = ["read"] }
path "auth/+/role" { capabilities = ["list"] }
path "auth/+/role/*" { capabilities = ["read"] }

path "sys/audit" { capabilities = ["read", "sudo"] }
path "sys/audit-hash/*" { capabilities = ["update", "sudo"] }
path "sys/key-status" { capabilities = ["read", "sudo"] }

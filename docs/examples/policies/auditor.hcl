# Auditor: reads the audit log's settings, the configuration and the states. Reads no secret value, and changes nothing.
# A path with update here computes something or looks something up.

path "sys/audit" { capabilities = ["read", "sudo"] }
path "sys/audit-hash/*" { capabilities = ["update", "sudo"] } # finds a token or an accessor in the audit log
path "sys/key-status" { capabilities = ["read", "sudo"] }

path "sys/mounts" { capabilities = ["read", "list"] }
path "sys/mounts/*" { capabilities = ["read"] }
path "sys/remount/status/*" { capabilities = ["read"] }
path "+/config" { capabilities = ["read"] }
path "+/metadata/*" { capabilities = ["list", "read"] }

path "sys/sync/*" { capabilities = ["read", "list"] }

path "sys/policies/acl" { capabilities = ["list"] }
path "sys/policies/acl/*" { capabilities = ["read"] }
path "sys/policy" { capabilities = ["read", "list"] }
path "sys/policy/*" { capabilities = ["read"] }
path "sys/namespaces" { capabilities = ["list"] }
path "sys/namespaces/*" { capabilities = ["read"] }
path "sys/quotas/rate-limit" { capabilities = ["list"] }
path "sys/quotas/rate-limit/*" { capabilities = ["read"] }

path "sys/auth" { capabilities = ["read", "list"] }
path "sys/auth/*" { capabilities = ["read"] }
path "auth/+/config" { capabilities = ["read"] }
path "auth/+/role" { capabilities = ["list"] }
path "auth/+/role/*" { capabilities = ["read"] }
path "auth/token/accessors" { capabilities = ["list", "sudo"] }
path "auth/token/lookup-accessor" { capabilities = ["update"] }
path "auth/token/roles" { capabilities = ["list"] }
path "auth/token/roles/*" { capabilities = ["read"] }
path "identity/*" { capabilities = ["read", "list"] }

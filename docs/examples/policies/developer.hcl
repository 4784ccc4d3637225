# Developer: works with the secrets of one mount, sees where they are synced, and associates them.
# The mount is secret/. For another one, replace the name everywhere; for several teams, write a policy for each.

path "secret/config" { capabilities = ["read"] }
path "secret/data/*" { capabilities = ["create", "read", "update", "patch", "delete"] }
path "secret/metadata/*" { capabilities = ["create", "read", "update", "patch", "list"] }
path "secret/subkeys/*" { capabilities = ["read"] }
path "secret/delete/*" { capabilities = ["update"] }
path "secret/undelete/*" { capabilities = ["update"] }

path "sys/sync/status" { capabilities = ["read"] }
path "sys/sync/lanes" { capabilities = ["read"] }
path "sys/sync/throughput" { capabilities = ["read"] }
path "sys/sync/events" { capabilities = ["read"] }
path "sys/sync/destinations" { capabilities = ["list"] }
path "sys/sync/destinations/+" { capabilities = ["list"] }
path "sys/sync/destinations/+/+" { capabilities = ["read"] }
path "sys/sync/associations/destinations" { capabilities = ["read"] }
path "sys/sync/associations/secret/*" { capabilities = ["read"] }
path "sys/sync/destinations/+/+/associations/history" {
  capabilities = ["read"]
  allowed_parameters = { "mount" = ["secret", "secret/"], "*" = [] }
  required_parameters = ["mount"]
}
path "sys/sync/destinations/+/+/associations/plan" {
  capabilities = ["update"]
  allowed_parameters = { "mount" = ["secret", "secret/"], "*" = [] }
  required_parameters = ["mount"]
}
path "sys/sync/destinations/+/+/associations/set" {
  capabilities = ["update"]
  allowed_parameters = { "mount" = ["secret", "secret/"], "*" = [] }
  required_parameters = ["mount"]
}
path "sys/sync/destinations/+/+/associations/remove" {
  capabilities = ["update"]
  allowed_parameters = { "mount" = ["secret", "secret/"], "*" = [] }
  required_parameters = ["mount"]
}
path "sys/sync/destinations/+/+/inspect" {
  capabilities = ["update"]
  allowed_parameters = { "mount" = ["secret", "secret/"], "*" = [] }
  required_parameters = ["mount"]
}

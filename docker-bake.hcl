# Builds every image in one go, from one build of the workspace: docker buildx bake
#
#   docker buildx bake standalone                                   one of them
#   REGISTRY=registry.example.test/team/ VERSION=0.2.0 docker buildx bake --push

variable "REGISTRY" { default = "" }
variable "VERSION" { default = "local" }
variable "REVISION" { default = "" }
variable "SOURCE" { default = "" }
variable "NODE_IMAGE" { default = "node:24-slim" }
# Certificates of a proxy, for the package manager.
variable "NODE_EXTRA_CA_CERTS" { default = "/dev/null" }

group "default" {
  targets = ["standalone", "service"]
}

target "common" {
  args = {
    NODE_IMAGE = NODE_IMAGE
    VERSION    = VERSION
    REVISION   = REVISION
    SOURCE     = SOURCE
  }
  secret = ["id=build-ca,src=${NODE_EXTRA_CA_CERTS}"]
}

target "standalone" {
  inherits = ["common"]
  target   = "standalone"
  tags     = ["${REGISTRY}secrets-service:${VERSION}"]
}

target "service" {
  inherits = ["common"]
  matrix = {
    service = [
      "gateway", "login", "secrets", "sync-control", "setup", "sandbox",
      "sync-worker-clouda-sm", "sync-worker-cloudb-kv", "sync-worker-cloudc-sm", "sync-worker-codehost",
      "sync-worker-webhost-project",
    ]
  }
  name   = service
  target = "service"
  args   = { SERVICE = service }
  tags   = ["${REGISTRY}secrets-service-${service}:${VERSION}"]
}

# Without a target, the standalone service: every service in one process, with PostgreSQL and simulated stores.
#
#   Evaluate:         docker build -t secrets-service . && docker run --rm -p 127.0.0.1:8200:8200 -p 127.0.0.1:8300:8300 secrets-service
#   One service:      docker build --target service --build-arg SERVICE=gateway .
#   Every image:      docker buildx bake
#
# Behind a proxy with its own certificate authority, add: --secret id=build-ca,src=<file.pem>

ARG NODE_IMAGE=node:24-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /src
ENV CI=true
COPY package.json pnpm-lock.yaml pnpm-workspace.yaml ./
RUN --mount=type=secret,id=build-ca \
    if [ -s /run/secrets/build-ca ]; then export NODE_EXTRA_CA_CERTS=/run/secrets/build-ca; fi; \
    npm install --global --no-audit --no-fund pnpm@10.34.9 && \
    pnpm fetch --frozen-lockfile --ignore-scripts --reporter=append-only || { \
      echo 'Unable to fetch the packages. Behind a proxy with its own certificate authority, add --secret id=build-ca,src=<file.pem>, or set NODE_EXTRA_CA_CERTS for Compose and bake.' >&2; \
      exit 1; }
COPY . .
RUN pnpm install --offline --frozen-lockfile --ignore-scripts --reporter=append-only
RUN node scripts/console/build.mjs && node scripts/bundle.mjs
# A new named volume takes its owner from the folder that it is mounted on.
RUN mkdir -p empty/run/keys empty/data && cd services && mkdir -p $(printf '../empty/keys/%s ' * postgres rabbitmq)

FROM ${NODE_IMAGE} AS base
ARG NODE_IMAGE VERSION= REVISION= SOURCE=
LABEL org.opencontainers.image.title=secrets-service \
      org.opencontainers.image.description="Keeps secrets in step in every external store that must also hold them" \
      org.opencontainers.image.licenses=Apache-2.0 \
      org.opencontainers.image.version=${VERSION} \
      org.opencontainers.image.revision=${REVISION} \
      org.opencontainers.image.source=${SOURCE} \
      org.opencontainers.image.base.name=${NODE_IMAGE}
ENV NODE_ENV=production HOST=0.0.0.0
COPY --from=build --chown=node:node /src/empty/ /
RUN ln -s /app/secrets-sync.mjs /usr/local/bin/secrets-sync
USER node
STOPSIGNAL SIGTERM
CMD ["node", "src/main.js"]

FROM base AS service
ARG SERVICE
COPY --from=build /src/dist/${SERVICE}/ /app/
WORKDIR /app/services/${SERVICE}

FROM base AS standalone
# A container decides by its published ports who can reach it. On another network than this machine's, set SANDBOX=off and TLS.
ENV INSECURE=1 SANDBOX_HOST=0.0.0.0 SANDBOX_PORT=8300 INTERNAL_PORT=8201 DATA_DIR=/data
COPY --from=build /src/dist/standalone/ /app/
WORKDIR /app/services/standalone
VOLUME /data
EXPOSE 8200 8300
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.INTERNAL_PORT}/readyz`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--max-semi-space-size=4", "--heap-growing-percent=30", "src/main.js"]

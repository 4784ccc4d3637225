# One image for each program: docker build --build-arg SERVICE=gateway .
# Behind a proxy with a certificate authority of its own: --secret id=build-ca,src=<file.pem>

FROM node:24-slim AS build
WORKDIR /src
ENV CI=true
COPY package.json pnpm-lock.yaml pnpm-workspace.yaml ./
RUN --mount=type=secret,id=build-ca \
    if [ -s /run/secrets/build-ca ]; then export NODE_EXTRA_CA_CERTS=/run/secrets/build-ca; fi; \
    npm install --global --no-audit --no-fund pnpm@10.34.9 && \
    pnpm fetch --frozen-lockfile --ignore-scripts --reporter=append-only
COPY . .
RUN pnpm install --offline --frozen-lockfile --ignore-scripts --reporter=append-only
RUN node scripts/bundle.mjs
# Named volumes take the owner of the folder on which they are first mounted.
RUN mkdir -p empty/run/keys empty/data && cd services && mkdir -p $(printf '../empty/keys/%s ' * postgres rabbitmq)

FROM node:24-slim
ARG SERVICE
ENV NODE_ENV=production HOST=0.0.0.0
COPY --from=build --chown=node:node /src/empty/ /
COPY --from=build /src/dist/${SERVICE}/ /app/
WORKDIR /app/${SERVICE}
USER node
STOPSIGNAL SIGTERM
CMD ["node", "src/main.js"]

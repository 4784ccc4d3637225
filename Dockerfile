# Builds the image of one service: docker build --build-arg SERVICE=gateway .
# Behind a proxy with its own certificate authority, add: --secret id=build-ca,src=<file.pem>

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
RUN node scripts/console/build.mjs && node scripts/bundle.mjs
# A new named volume takes its owner from the folder that it is mounted on.
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

// Records what Vault and OpenBao publish about the operations that this service has, too (`published.json`):
//
//   npm run clients -- openbao          # installs OpenBao
//   node scripts/run.mjs tests/openapi/contract/record.ts <openapi.json of the Go module vault-client-go>
import { readFileSync, writeFileSync } from 'node:fs';
import { describeApi } from '../../../scripts/console/describe-api.ts';
import { startOpenBao } from '../../clients/differential/openbao-server.ts';
import { type Api, send } from '../../harness/http.ts';
import { observed } from './observe.ts';
import { type ApiDocument, operationName, reduced, together } from './published-api.ts';

const own = (await describeApi()) as ApiDocument;
const names = new Set(
  Object.entries(own.paths).flatMap(([path, verbs]) =>
    Object.keys(verbs).map((verb) => operationName(verb, path)),
  ),
);

const vault = JSON.parse(readFileSync(process.argv[2]!, 'utf8')) as ApiDocument & Info;

interface Info {
  info: { version: string };
}

const server = await startOpenBao();
try {
  const headers = { 'x-vault-token': server.rootToken };
  const api: Api = (method, path, body) => send(`${server.url}/v1/${path}`, method, { headers, body });
  const path = 'sys/internal/specs/openapi?generic_mount_paths=true';
  const openBao = (await api('GET', path)).body as ApiDocument & Info;
  const operations = reduced(openBao, names);
  for (const [name, response] of Object.entries(await observed(api)))
    operations[name] = together(operations[name], { response });
  const published = {
    vault: {
      source: `openapi.json of github.com/hashicorp/vault-client-go, Vault ${vault.info.version}`,
      operations: reduced(vault, names),
    },
    openbao: {
      source: `sys/internal/specs/openapi of OpenBao ${openBao.info.version}, and its responses in identity/ and auth/token`,
      operations: Object.fromEntries(Object.entries(operations).sort()),
    },
  };
  writeFileSync(new URL('published.json', import.meta.url), `${JSON.stringify(published, undefined, 2)}\n`);
} finally {
  await server.stop();
}

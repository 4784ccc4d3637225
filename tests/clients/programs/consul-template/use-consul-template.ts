import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventuallyEqual } from '../../../harness/eventually.ts';
import { expectStatus, send } from '../../../harness/http.ts';
import { Program } from '../../../harness/program.ts';

const configuration = (home: string, { VAULT_ADDR, MOUNT, POLICY }: NodeJS.ProcessEnv) => `
vault {
  address = "${VAULT_ADDR}"
  unwrap_token = true
  renew_token = true
  default_lease_duration = "1s"
}
template {
  destination = "${home}/rendered"
  contents = <<EOT
{{ with secret "${MOUNT}/data/shop/db" }}{{ .Data.data.user }}{{ end }}
{{ with secret "${MOUNT}/data/shop/db?version=1" }}{{ .Data.data.user }}{{ end }}
{{ with secret "${MOUNT}/shop/db" }}{{ .Data.data.user }}{{ end }}
{{ range secrets "${MOUNT}/metadata/shop" }}{{ . }}{{ end }}
{{ with secret "auth/token/create" "policies=${POLICY}" "ttl=1h" }}{{ .Auth.LeaseDuration }}{{ end }}
EOT
}
`;

/**
 * Starts consul-template with a wrapped token of a cloud identity. It renders a template again when its secret changes.
 * `SERVICE_URL` is the address for calls that are not its own.
 */
export async function useConsulTemplate(program: string, env: NodeJS.ProcessEnv): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 'consul-template-'));
  const call = async (path: string, body: object, headers: Record<string, string>) =>
    expectStatus(await send(`${env.SERVICE_URL}/v1/${path}`, 'POST', { headers, body }), 200);
  const setUser = (user: string) =>
    call(`${env.MOUNT}/data/shop/db`, { data: { user } }, { 'X-Vault-Token': env.VAULT_TOKEN! });
  const rendered = async () =>
    readFileSync(join(home, 'rendered'), { encoding: 'utf8', flag: 'a+' }).trim().split('\n');
  await setUser('a');
  const login = { role: env.ROLE, jwt: env.JWT };
  const { body: session } = await call('auth/azure/login', login, { 'X-Vault-Wrap-TTL': '5m' });
  writeFileSync(join(home, 'config.hcl'), configuration(home, env));
  const running = new Program(program, {
    args: [`-config=${join(home, 'config.hcl')}`],
    env: { PATH: env.PATH, HOME: home, VAULT_TOKEN: session.wrap_info.token },
  });
  try {
    await running.until(async () => (await rendered()).length > 1, 'rendered its template');
    await eventuallyEqual(rendered, ['a', 'a', 'a', 'db', '3600']);
    await setUser('b');
    await eventuallyEqual(rendered, ['b', 'a', 'b', 'db', '3600']);
  } finally {
    await running.end('SIGINT'); // it ignores SIGTERM
    rmSync(home, { recursive: true, force: true });
  }
}

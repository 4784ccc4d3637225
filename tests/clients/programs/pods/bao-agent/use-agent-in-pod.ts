import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { eventually, eventuallyEqual } from '../../../../harness/eventually.ts';
import { Program } from '../../../../harness/program.ts';
import type { Pods } from '../pods.ts';

/** The methods call the file with the token of the pod by different names. */
const methodConfig = (method: string, file: string, role: string): string =>
  method === 'kubernetes'
    ? `{ role = "${role}", token_path = "${file}" }`
    : `{ role = "${role}", path = "${file}", remove_jwt_after_reading = false }`;

const configuration = (home: string, { VAULT_ADDR, MOUNT, ROLE, METHOD }: NodeJS.ProcessEnv) => `
vault { address = "${VAULT_ADDR}" }
auto_auth {
  method "${METHOD}" {
    mount_path = "auth/${METHOD}"
    min_backoff = "500ms"
    max_backoff = "2s"
    config = ${methodConfig(METHOD!, join(home, 'jwt'), ROLE!)}
  }
  sink "file" { config = { path = "${home}/token" } }
}
template_config { static_secret_render_interval = "1s" }
template {
  contents = "{{ with secret \\"${MOUNT}/data/shop/db\\" }}user is {{ .Data.data.user }}{{ end }}"
  destination = "${home}/rendered"
}
`;

const textOf = (path: string): string => readFileSync(path, { encoding: 'utf8', flag: 'a+' });

/**
 * Starts `bao agent` beside a pod. It logs in with the token of its service account, renders a template whenever its secret
 * changes, renews its token until the maximum, and logs in again after that, after a revocation and after a restart of the
 * service.
 */
export async function useAgentInPod(program: string, pods: Pods): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 'bao-agent-in-pod-'));
  writeFileSync(join(home, 'jwt'), await pods.issueToken());
  writeFileSync(join(home, 'agent.hcl'), configuration(home, pods.env));
  const rendered = async () => textOf(join(home, 'rendered'));
  const token = async () => textOf(join(home, 'token'));
  await pods.setUser('a');
  const agent = new Program(program, {
    args: ['agent', `-config=${join(home, 'agent.hcl')}`],
    env: { PATH: pods.env.PATH, HOME: home },
  });
  try {
    await agent.until(async () => (await rendered()) === 'user is a', 'rendered its template');
    await pods.setUser('b');
    await eventuallyEqual(rendered, 'user is b');
    await renewUntilMaximum(pods, token);
    const before = await token();
    await pods.revokeTokens();
    await eventually(token, (now) => now !== '' && now !== before);
    await pods.setUser('c');
    await eventuallyEqual(rendered, 'user is c');
    await pods.restart();
    await pods.setUser('d');
    await eventuallyEqual(rendered, 'user is d');
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${agent.printed.slice(-4_000)}`, { cause: error });
  } finally {
    await agent.end('SIGTERM');
    rmSync(home, { recursive: true, force: true });
  }
}

/** Waits until the agent has another token, and expects that it has renewed the former one. */
async function renewUntilMaximum(pods: Pods, token: () => Promise<string>): Promise<void> {
  const first = await token();
  const expiries = new Set<string>();
  await eventually(
    async () => {
      const expiry = await pods.expiryOf(first);
      if (expiry !== undefined) expiries.add(expiry);
      return token();
    },
    (now) => now !== '' && now !== first,
  );
  expect(expiries.size).toBeGreaterThanOrEqual(2);
}

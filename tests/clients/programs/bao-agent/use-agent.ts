import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { freePorts } from '../../../../scripts/free-ports.ts';
import { eventuallyEqual } from '../../../harness/eventually.ts';
import { Program } from '../../../harness/program.ts';
import { Bao } from '../../openbao/bao.ts';

const configuration = (home: string, port: number, { VAULT_ADDR, MOUNT, ROLE }: NodeJS.ProcessEnv) => `
vault { address = "${VAULT_ADDR}" }
auto_auth {
  method "jwt" {
    mount_path = "auth/azure"
    config = { path = "${home}/jwt", role = "${ROLE}", remove_jwt_after_reading = false }
  }
  sink "file" { config = { path = "${home}/token" } }
}
api_proxy { use_auto_auth_token = true }
listener "tcp" {
  address = "127.0.0.1:${port}"
  tls_disable = true
}
template_config { static_secret_render_interval = "1s" }
template {
  contents = "{{ with secret \\"${MOUNT}/data/shop/db\\" }}user is {{ .Data.data.user }}{{ end }}"
  destination = "${home}/rendered"
}
`;

/**
 * Starts `bao agent`, which logs in with the token of a cloud identity, renders a template whenever its secret changes, and
 * forwards the requests of a user who has no token.
 */
export async function useAgent(program: string, env: NodeJS.ProcessEnv): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 'bao-agent-'));
  const [port] = await freePorts(1);
  writeFileSync(join(home, 'jwt'), env.JWT!);
  writeFileSync(join(home, 'agent.hcl'), configuration(home, port!, env));
  const admin = new Bao(program, env.VAULT_ADDR!);
  const user = new Bao(program, `http://127.0.0.1:${port}`);
  const setUser = (name: string) =>
    admin.print(`kv put -mount=${env.MOUNT} shop/db user=${name}`, { token: env.VAULT_TOKEN! });
  const rendered = async () => readFileSync(join(home, 'rendered'), { encoding: 'utf8', flag: 'a+' });
  await setUser('a');
  const agent = new Program(program, {
    args: ['agent', `-config=${join(home, 'agent.hcl')}`],
    env: { PATH: env.PATH, HOME: home },
  });
  try {
    await agent.until(async () => (await rendered()) === 'user is a', 'rendered its template');
    await setUser('b');
    await eventuallyEqual(rendered, 'user is b');
    await useKeyValueStore(user, env.MOUNT!);
    expect((await user.json('token lookup')).data.policies).toContain(env.POLICY);
  } finally {
    await agent.end('SIGTERM');
    for (const bao of [admin, user]) bao.discard();
    rmSync(home, { recursive: true, force: true });
  }
}

async function useKeyValueStore(user: Bao, mount: string): Promise<void> {
  const kv = (command: string, rest: string) => user.json(`kv ${command} -mount=${mount} ${rest}`);
  await kv('put', 'team/note text=x');
  await kv('put', 'team/note text=y');
  expect((await kv('get', 'team/note')).data.data).toEqual({ text: 'y' });
  expect((await kv('get', '-version=1 team/note')).data.data).toEqual({ text: 'x' });
  expect(await kv('list', 'team')).toEqual(['note']);
  expect((await kv('metadata get', 'team/note')).data.current_version).toBe(2);
  const { code } = await user.run(`kv put -mount=${mount} shop/db user=c`);
  expect(code).not.toBe(0);
}

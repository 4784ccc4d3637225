import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Program } from '../../tests/harness/program.ts';
import { freePorts } from '../free-ports.ts';

/** A Keycloak with the realm `acme`. */
export interface KeycloakServer {
  /** The issuer of the realm. */
  issuer: string;
  port: number;
  clientSecret: string;
  password: string;
  stop(): Promise<void>;
}

export const clientId = 'secrets';

/** The realm as an administrator sets it up by hand: docs/operations/first-day.md. */
const realm = (clientSecret: string, password: string, redirectUris: string[]) => ({
  realm: 'acme',
  enabled: true,
  groups: [{ name: 'operators' }, { name: 'visitors' }],
  clients: [
    {
      clientId,
      secret: clientSecret,
      redirectUris,
      publicClient: false,
      standardFlowEnabled: true,
      directAccessGrantsEnabled: false,
      protocolMappers: [
        {
          name: 'groups',
          protocol: 'openid-connect',
          protocolMapper: 'oidc-group-membership-mapper',
          config: { 'claim.name': 'groups', 'full.path': 'false', 'id.token.claim': 'true' },
        },
      ],
    },
  ],
  users: [user('ann', '/operators', password), user('bob', '/visitors', password)],
});

const user = (username: string, group: string, value: string) => ({
  username,
  enabled: true,
  email: `${username}@acme.example`,
  emailVerified: true,
  firstName: username,
  lastName: 'Example',
  groups: [group],
  credentials: [{ type: 'password', value, temporary: false }],
});

/** Starts Keycloak with data of its own, and creates the realm. The first start takes a minute. */
export async function startKeycloak(folder: string, redirectUris: string[]): Promise<KeycloakServer> {
  const [port, managementPort] = (await freePorts(2)) as [number, number];
  const home = mkdtempSync(join(tmpdir(), 'keycloak-'));
  const [admin, clientSecret, password] = [randomUUID(), randomUUID(), randomUUID()];
  const data = [`--http-management-port=${managementPort}`, '--db=dev-mem', '--cache=local'];
  const server = new Program(join(folder, 'bin', 'kc.sh'), {
    args: ['start-dev', '--http-host=127.0.0.1', `--http-port=${port}`, ...data],
    env: {
      PATH: process.env.PATH,
      HOME: home,
      JAVA_OPTS_APPEND: '-Xmx512m',
      KC_BOOTSTRAP_ADMIN_USERNAME: 'admin',
      KC_BOOTSTRAP_ADMIN_PASSWORD: admin,
    },
    ownGroup: true,
  });
  const stop = async () => {
    await server.discard();
    rmSync(home, { recursive: true, force: true });
  };
  const url = `http://127.0.0.1:${port}`;
  try {
    await server.untilPrinted('Listening on:');
    await createRealm(url, admin, realm(clientSecret, password, redirectUris));
  } catch (error) {
    await stop();
    throw error;
  }
  return { issuer: `${url}/realms/acme`, port, clientSecret, password, stop };
}

async function createRealm(url: string, password: string, created: object): Promise<void> {
  const form = { grant_type: 'password', client_id: 'admin-cli', username: 'admin', password };
  const granted = await fetch(`${url}/realms/master/protocol/openid-connect/token`, {
    method: 'POST',
    body: new URLSearchParams(form),
  });
  const { access_token } = (await granted.json()) as { access_token?: string };
  const { status } = await fetch(`${url}/admin/realms`, {
    method: 'POST',
    headers: { authorization: `Bearer ${access_token}`, 'content-type': 'application/json' },
    body: JSON.stringify(created),
  });
  if (status !== 201) throw new Error(`Keycloak answered ${granted.status} and ${status} to the realm`);
}

import { randomUUID } from 'node:crypto';
import { forEach, sandboxClient } from './api-client.ts';

/** The identity directory of the sandbox, which issues JWTs. */
export interface Directory {
  tenantId: string;
  keysUrl: string;
  issuer: string;
}

/** Identities and a JWT of each, in the same order. */
export interface Identities {
  principals: string[];
  jwts: string[];
}

/** Finds the directory of a running sandbox. */
export async function directoryOf(sandboxUrl: string): Promise<Directory> {
  const about = (await sandboxClient(sandboxUrl)('GET', 'about')) as {
    directory: { path: string; tenant_id: string };
  };
  const { path: base, tenant_id: tenantId } = about.directory;
  const discovery = `${sandboxUrl}${base}/${tenantId}/.well-known/openid-configuration`;
  const { jwks_uri: keysUrl, issuer } = (await (await fetch(discovery)).json()) as {
    jwks_uri: string;
    issuer: string;
  };
  return { tenantId, keysUrl, issuer };
}

/** Has the directory issue a JWT for each of `count` new identities. */
export async function issueJwts(sandboxUrl: string, audience: string, count: number): Promise<Identities> {
  const principals = Array.from({ length: count }, () => randomUUID());
  const jwts: string[] = [];
  const sandbox = sandboxClient(sandboxUrl);
  await forEach([...principals.keys()], 4, async (at) => {
    const issued = await sandbox('POST', 'directory/token', { oid: principals[at], audience });
    jwts[at] = (issued as { token: string }).token;
  });
  return { principals, jwts };
}

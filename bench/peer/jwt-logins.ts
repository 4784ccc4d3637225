import { createPublicKey, type JsonWebKey } from 'node:crypto';
import { eventually } from '@secrets/testing';
import type { Api } from '../system/api-client.ts';
import type { Directory } from '../system/directory.ts';

/** Who may log in, and the policy that they get. */
interface LoginRules {
  role: string;
  policy: string;
  audience: string;
  principals: string[];
  directory: Directory;
}

/**
 * Lets the identities of a directory log in as `role` of the mount `jwt`, with the method of that name, which the product and
 * OpenBao configure alike.
 */
export async function allowJwtLogins(
  api: Api,
  { role, policy, audience, principals, directory }: LoginRules,
): Promise<void> {
  const { keys } = (await (await fetch(directory.keysUrl)).json()) as { keys: JsonWebKey[] };
  const pem = keys.map((key) =>
    createPublicKey({ key, format: 'jwk' }).export({ type: 'spki', format: 'pem' }),
  );
  await api('POST', 'sys/auth/jwt', { type: 'jwt' });
  const config = { jwt_validation_pubkeys: pem, bound_issuer: directory.issuer };
  await eventually(() => api('POST', 'auth/jwt/config', config), { timeoutMs: 10_000 });
  await api('POST', `auth/jwt/role/${role}`, {
    role_type: 'jwt',
    user_claim: 'sub',
    bound_audiences: [audience],
    bound_claims: { oid: principals },
    token_policies: [policy],
    token_ttl: '1h',
  });
}

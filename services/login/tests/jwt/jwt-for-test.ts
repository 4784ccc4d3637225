import type { Caller } from '@secrets/caller';
import type { TestResponse } from '@secrets/http/testing';
import { later, useStarted } from '../../../../libs/testing/src/use-started.ts';
import { anonymous, type LoginForTest, startLoginForTest } from '../login-for-test.ts';
import { audience, type IssuerForTest, startIssuer, subject } from './issuer-for-test.ts';

/** The service with an issuer, an auth mount `jwt` that is configured for it, and a role `web` that admits its usual tokens. */
export interface JwtForTest {
  issuer: IssuerForTest;
  service: LoginForTest;
  /** Replaces the configuration, which also drops the cached keys. */
  configure(body?: object, mount?: string): Promise<TestResponse>;
  writeRole(name: string, body: object, mount?: string): Promise<TestResponse>;
  /** Logs in with a token, by default through the role `web`. */
  logIn(jwt: string, role?: string, caller?: Caller): Promise<TestResponse>;
  /** Logs in with a token of these claims. */
  logInWith(claims?: Record<string, unknown>, role?: string): Promise<TestResponse>;
  stop(): Promise<void>;
}

/** The fields of a role that every role needs. */
export const needed = {
  role_type: 'jwt',
  bound_audiences: audience,
  bound_subject: subject,
  user_claim: 'sub',
} as const;

async function startJwt(): Promise<JwtForTest> {
  const issuer = await startIssuer();
  const service = await startLoginForTest({ egressAllow: [`127.0.0.1/32:${issuer.port}`] });
  const jwt: JwtForTest = {
    issuer,
    service,
    configure: (body = { oidc_discovery_url: issuer.url }, mount = 'jwt') =>
      service.call('POST', `/auth/${mount}/config`, body),
    writeRole: (name, body, mount = 'jwt') =>
      service.call('POST', `/auth/${mount}/role/${name}`, { ...needed, ...body }),
    logIn: (token, role = 'web', caller = anonymous) =>
      service.call('POST', '/auth/jwt/login', { role, jwt: token }, caller),
    logInWith: async (claims = {}, role = 'web') => jwt.logIn(await issuer.sign(claims), role),
    stop: async () => {
      await service.stop();
      await issuer.stop();
    },
  };
  await service.call('POST', '/sys/auth/jwt', { type: 'jwt' });
  await jwt.configure();
  await jwt.writeRole('web', { token_policies: 'dev', token_ttl: '1h' });
  return jwt;
}

/** Starts the service with its issuer for the tests of a file, and stops them after those. */
export function useJwt(): { jwt: JwtForTest; login: LoginForTest; issuer: IssuerForTest } {
  const jwt = useStarted(startJwt, ({ stop }) => stop());
  return { jwt, login: later(() => jwt.service), issuer: later(() => jwt.issuer) };
}

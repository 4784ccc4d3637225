import type { DeadlineTable } from '@secrets/clock';
import type { SealedTable } from '@secrets/seal-rotation';
import type { RenewalDecision, StoredLogin } from '../tokens/renew-token.ts';
import type { AuthMethod, AuthMethodDeps } from './auth-method.ts';
import { type CloudBOptions, createCloudB } from './cloudb/cloudb.ts';
import { cloudBDeadlines } from './cloudb/deadlines.ts';
import { cloudBSealedTables } from './cloudb/sealed-tables.ts';
import { createJwt, type JwtOptions } from './jwt/jwt.ts';
import { jwtSealedTables } from './jwt/sealed-tables.ts';
import { createKubernetes, type KubernetesOptions } from './kubernetes/kubernetes.ts';
import { kubernetesSealedTables } from './kubernetes/sealed-tables.ts';

/** The settings of all login methods. */
export type MethodOptions = CloudBOptions & JwtOptions & KubernetesOptions;

/** The login methods of this service: the only place that lists them. */
export const createAuthMethods = (deps: AuthMethodDeps, options: MethodOptions): AuthMethods =>
  authMethods([createCloudB(deps, options), createJwt(deps, options), createKubernetes(deps, options)]);

/** Every column of these methods with sealed bytes. */
export const sealedTablesOfMethods: readonly SealedTable[] = [
  ...cloudBSealedTables,
  ...jwtSealedTables,
  ...kubernetesSealedTables,
];

/** Times that the work of these methods waits for. */
export const deadlinesOfMethods: readonly DeadlineTable[] = cloudBDeadlines;

/** Login methods by type. */
export interface AuthMethods {
  readonly all: readonly AuthMethod[];
  ofType(type: string): AuthMethod | undefined;
  /** Segments that endpoints below mounts have in their paths, such as `login` and `config`. */
  readonly callNames: ReadonlySet<string>;
  /** Asks the method of the mount that issued a token; its docstring has the rule. */
  mayRenew(login: StoredLogin): Promise<RenewalDecision>;
}

/** Indexes methods by their types, which must differ. */
export function authMethods(all: readonly AuthMethod[]): AuthMethods {
  const byType = new Map(all.map((method) => [method.type, method]));
  return {
    all,
    ofType: (type) => byType.get(type),
    callNames: new Set(['login', 'tune', ...all.flatMap(literalSegments)]),
    mayRenew: async (login) =>
      byType.get(login.mountType)?.mayRenew(login) ?? {
        allowed: false,
        reason: 'the login method of this token is no longer supported',
      },
  };
}

/**
 * The segments after which a path may end or have anything. One that is followed by another literal, such as `oidc` in
 * `/oidc/callback`, can be the name of a mount.
 */
const literalSegments = ({ endpoints }: AuthMethod): string[] =>
  endpoints.flatMap(({ path }) => {
    const segments = path.split('/');
    return segments.filter((segment, at) => isLiteral(segment) && !isLiteral(segments[at + 1] ?? ''));
  });

const isLiteral = (segment: string): boolean => /^\w/.test(segment);

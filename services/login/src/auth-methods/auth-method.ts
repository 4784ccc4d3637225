import type { RowGuard } from '@secrets/access';
import type { InternalKeys } from '@secrets/caller';
import type { Db } from '@secrets/db';
import { type Endpoint, endpointWith } from '@secrets/http';
import type { KeyRing } from '@secrets/seal';
import type { Logger } from '@secrets/telemetry';
import type { z } from 'zod';
import type { AuthMountRow } from '../queries/auth-mounts.ts';
import type { IssuedToken } from '../tokens/issue-token.ts';
import type { RenewalDecision, StoredLogin } from '../tokens/renew-token.ts';
import type { StoreLoginToken } from '../tokens/store-login-token.ts';
import type { LoginCounter } from './login-counter.ts';

/**
 * A way to log in. A method proves an identity, decides which token it gets, and issues that with `issueToken`; it
 * stores its own configuration. To add one, implement this interface in a folder beside this file and list it in
 * `registry.ts`. Nothing else knows which methods exist.
 */
export interface AuthMethod {
  /** The type of its mounts, as in `sys/auth/<path>`. */
  readonly type: string;
  /** Another name by which a mount of this type can be enabled (docs/conventions/http.md#alternative-names). */
  readonly alternativeType?: string;
  /** The body of `auth/<mount>/login`. */
  readonly loginBody: z.ZodType;
  /**
   * Issues a token to a caller who proves an identity. Otherwise throws a `Problem` that names the failed check, but none
   * of its values. Looks for the mount itself, with whatever else a login reads, so that a login takes one look-up.
   * @param body what `loginBody` parsed
   * @throws NoSuchMount if no mount of this type has the path
   */
  login(at: LoginEndpoint, body: never): Promise<IssuedToken>;
  /** Decides whether the login that issued a token would still succeed. */
  mayRenew(login: StoredLogin): Promise<RenewalDecision>;
  /**
   * The other endpoints of its mounts, such as `auth/<mount>/config`. If two methods have one of the same path, they
   * must give its parameters the same names.
   */
  readonly endpoints: readonly MethodEndpoint[];
  /** Work that every replica repeats. */
  readonly tasks?: readonly MethodTask[];
}

/** Work that is repeated in the background, on every replica at the same time. */
export interface MethodTask {
  name: string;
  /** Between two runs. */
  seconds: number;
  run(isStopping: () => boolean): Promise<void>;
}

export interface AuthMethodDeps {
  db: Db;
  /** Seals the secrets in a method's configuration. */
  keyRing: KeyRing;
  keys: InternalKeys;
  /** This and the next are for `issueToken`. */
  rows: RowGuard;
  storeLoginToken: StoreLoginToken;
  /** For logins at other endpoints than `login`, which is counted already. */
  loginCounter: LoginCounter;
  log: Logger;
}

/** Where a login was sent, and the address that it came from. */
export interface LoginEndpoint {
  namespaceId: string;
  /** Path of the mount. */
  mount: string;
  remoteAddress: string;
  /** As in `Caller`. */
  newestChange?: string | undefined;
}

/** No mount of the method has this path, because it was disabled or replaced by one of another type. */
export class NoSuchMount extends Error {
  override readonly name = 'NoSuchMount';
}

/** The additional input of a handler below a mount. */
interface BelowMount {
  mount: AuthMountRow;
}

/** An endpoint below the mounts of a method, such as `/role/:name`. No mount path may contain one of its literal segments. */
export type MethodEndpoint = Endpoint<BelowMount>;

/** Declares an endpoint below the mounts of a method. */
export const methodEndpoint = endpointWith<BelowMount>();

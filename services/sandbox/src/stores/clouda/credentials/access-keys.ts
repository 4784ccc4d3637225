import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { AuthenticationError } from '../aws-error.ts';

/** A long-lived access key and its account. */
export interface AccessKey {
  accessKeyId: string;
  secretAccessKey: string;
  accountId: string;
}

/** The verified signer of a request. */
export interface Signer extends AccessKey {
  arn: string;
}

export interface Session extends AccessKey {
  sessionToken: string;
  expiresAtMs: number;
}

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
/** The signed content of a session token. */
const SessionContent = z.object({ key: z.string(), account: z.string(), arn: z.string(), until: z.number() });

/** Derives an access key from a seed. The result is deterministic. */
export function accessKeyFromSeed(seed: string, accountId: string): AccessKey {
  const digest = createHash('sha512').update(`sandbox access key ${seed}`).digest();
  return {
    accessKeyId: `AKIA${base32(digest.subarray(0, 16))}`,
    secretAccessKey: digest.subarray(16, 46).toString('base64'),
    accountId,
  };
}

/**
 * The access keys and sessions that the sandbox accepts. Sessions are not stored: the session token contains the role and
 * the expiry, authenticated with a key that is derived from the seed, so sessions survive a restart.
 */
export class AccessKeys {
  readonly #keys: ReadonlyMap<string, AccessKey>;
  readonly #sessionKey: Buffer;

  constructor(keys: readonly AccessKey[], seed: string) {
    this.#keys = new Map(keys.map((key) => [key.accessKeyId, key]));
    this.#sessionKey = createHash('sha256').update(`sandbox session ${seed}`).digest();
  }

  /**
   * Returns the signer that a key and a session token belong to. The signature itself is not verified here.
   * @throws AuthenticationError `unknown-key` or `expired-token`
   */
  signer(accessKeyId: string, sessionToken: string | undefined, nowMs: number): Signer {
    if (sessionToken !== undefined) return this.#session(accessKeyId, sessionToken, nowMs);
    const key = this.#keys.get(accessKeyId);
    if (!key)
      throw new AuthenticationError('unknown-key', 'The security token included in the request is invalid.');
    return { ...key, arn: `arn:aws:iam::${key.accountId}:user/sandbox` };
  }

  /** Creates credentials of an assumed role that expire at `expiresAtMs`. */
  startSession(accountId: string, arn: string, expiresAtMs: number): Session {
    const accessKeyId = `ASIA${base32(randomBytes(16))}`;
    const content = Buffer.from(
      JSON.stringify({ key: accessKeyId, account: accountId, arn, until: expiresAtMs }),
    ).toString('base64url');
    const sessionToken = `${content}.${this.#mac(content).toString('base64url')}`;
    return {
      accessKeyId,
      secretAccessKey: this.#sessionSecret(accessKeyId),
      accountId,
      sessionToken,
      expiresAtMs,
    };
  }

  #session(accessKeyId: string, sessionToken: string, nowMs: number): Signer {
    const [encoded = '', mac = ''] = sessionToken.split('.');
    const expected = this.#mac(encoded);
    const received = Buffer.from(mac, 'base64url');
    const isAuthentic = received.length === expected.length && timingSafeEqual(received, expected);
    const content = isAuthentic
      ? SessionContent.parse(JSON.parse(Buffer.from(encoded, 'base64url').toString()))
      : undefined;
    if (content?.key !== accessKeyId) {
      throw new AuthenticationError('unknown-key', 'The security token included in the request is invalid.');
    }
    if (content.until <= nowMs) {
      throw new AuthenticationError('expired-token', 'The security token included in the request is expired');
    }
    return {
      accessKeyId,
      secretAccessKey: this.#sessionSecret(accessKeyId),
      accountId: content.account,
      arn: content.arn,
    };
  }

  #mac(text: string): Buffer {
    return createHmac('sha256', this.#sessionKey).update(text).digest();
  }

  #sessionSecret(accessKeyId: string): string {
    return this.#mac(`secret of ${accessKeyId}`).subarray(0, 30).toString('base64');
  }
}

function base32(bytes: Buffer): string {
  return Array.from(bytes, (byte) => BASE32[byte % 32]).join('');
}

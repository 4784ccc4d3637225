import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { SignatureFault } from '../signature-fault.ts';

/** A long-lived key pair and the account that it belongs to. */
export interface AccessKey {
  accessKeyId: string;
  secretAccessKey: string;
  accountId: string;
}

/** Who signs, and with what. */
export interface Signer extends AccessKey {
  arn: string;
}

export interface Session extends AccessKey {
  sessionToken: string;
  expiresAtMs: number;
}

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const Ticket = z.object({ key: z.string(), account: z.string(), arn: z.string(), until: z.number() });

/** The key pair that belongs to a seed: the same for the same text. */
export function keyOfSeed(seed: string, accountId: string): AccessKey {
  const digest = createHash('sha512').update(`sandbox access key ${seed}`).digest();
  return {
    accessKeyId: `AKIA${letters(digest.subarray(0, 16))}`,
    secretAccessKey: digest.subarray(16, 46).toString('base64'),
    accountId,
  };
}

/**
 * The keys that the sandbox accepts. A session is not stored: its token says for whom and until when, sealed with a
 * key that follows from the seed, so that sessions outlive a restart.
 */
export class AccessKeys {
  readonly #keys: ReadonlyMap<string, AccessKey>;
  readonly #ticketKey: Buffer;

  constructor(keys: readonly AccessKey[], seed: string) {
    this.#keys = new Map(keys.map((key) => [key.accessKeyId, key]));
    this.#ticketKey = createHash('sha256').update(`sandbox session ${seed}`).digest();
  }

  /** @throws SignatureFault `unknown-key` or `expired-token` */
  signer(accessKeyId: string, sessionToken: string | undefined, nowMs: number): Signer {
    if (sessionToken !== undefined) return this.#session(accessKeyId, sessionToken, nowMs);
    const key = this.#keys.get(accessKeyId);
    if (!key)
      throw new SignatureFault('unknown-key', 'The security token included in the request is invalid.');
    return { ...key, arn: `arn:aws:iam::${key.accountId}:user/sandbox` };
  }

  /** Credentials of an assumed role, good until `expiresAtMs`. */
  startSession(accountId: string, arn: string, expiresAtMs: number): Session {
    const accessKeyId = `ASIA${letters(randomBytes(16))}`;
    const ticket = Buffer.from(
      JSON.stringify({ key: accessKeyId, account: accountId, arn, until: expiresAtMs }),
    ).toString('base64url');
    const sessionToken = `${ticket}.${this.#mac(ticket).toString('base64url')}`;
    return {
      accessKeyId,
      secretAccessKey: this.#sessionSecret(accessKeyId),
      accountId,
      sessionToken,
      expiresAtMs,
    };
  }

  #session(accessKeyId: string, sessionToken: string, nowMs: number): Signer {
    const [ticket = '', mac = ''] = sessionToken.split('.');
    const expected = this.#mac(ticket);
    const given = Buffer.from(mac, 'base64url');
    const isOurs = given.length === expected.length && timingSafeEqual(given, expected);
    const content = isOurs
      ? Ticket.parse(JSON.parse(Buffer.from(ticket, 'base64url').toString()))
      : undefined;
    if (content?.key !== accessKeyId) {
      throw new SignatureFault('unknown-key', 'The security token included in the request is invalid.');
    }
    if (content.until <= nowMs) {
      throw new SignatureFault('expired-token', 'The security token included in the request is expired');
    }
    return {
      accessKeyId,
      secretAccessKey: this.#sessionSecret(accessKeyId),
      accountId: content.account,
      arn: content.arn,
    };
  }

  #mac(text: string): Buffer {
    return createHmac('sha256', this.#ticketKey).update(text).digest();
  }

  #sessionSecret(accessKeyId: string): string {
    return this.#mac(`secret of ${accessKeyId}`).subarray(0, 30).toString('base64');
  }
}

function letters(bytes: Buffer): string {
  return Array.from(bytes, (byte) => BASE32[byte % 32]).join('');
}

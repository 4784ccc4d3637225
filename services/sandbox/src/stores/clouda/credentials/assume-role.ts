import { randomBytes, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { AwsError } from '../aws-error.ts';
import type { Elements } from '../endpoint/sts-protocol.ts';
import type { AccessKeys, Signer } from './access-keys.ts';

/** A role that any caller with a known key can assume, if the external ID matches. */
export interface Role {
  arn: string;
  externalId?: string;
}

/** The parameters of every call that assumes a role. */
export const RoleInput = z.object({
  RoleArn: z.string().regex(/^arn:aws:iam::\d{12}:role\/[\w+=,.@/-]{1,512}$/),
  RoleSessionName: z.string().regex(/^[\w+=,.@-]{2,64}$/),
  DurationSeconds: z.coerce.number().int().min(900).max(43_200).default(3600),
});

const Input = RoleInput.extend({ ExternalId: z.string().optional() });

export interface RoleOptions {
  keys: AccessKeys;
  roles: readonly Role[];
  /** The length of every session; undefined uses the requested one. */
  sessionSeconds: number | undefined;
  nowMs: number;
}

/**
 * Returns session credentials for a role.
 * @throws AwsError ValidationError, AccessDenied
 */
export function assumeRole(sent: Record<string, string>, signer: Signer, options: RoleOptions): Elements {
  const parsed = Input.safeParse(sent);
  if (!parsed.success)
    throw new AwsError('ValidationError', `${parsed.error.issues[0]?.path.join('.')} is not valid.`);
  const { RoleArn, ExternalId } = parsed.data;
  if (!options.roles.some((role) => role.arn === RoleArn && matchesExternalId(role, ExternalId)))
    throw accessDenied(signer, RoleArn);
  return startRoleSession(parsed.data, options);
}

/** Credentials and user of a new session of a role. */
export function startRoleSession(
  { RoleArn, RoleSessionName, DurationSeconds }: z.infer<typeof RoleInput>,
  options: RoleOptions,
): Elements {
  const [, , , , account = '', role = ''] = RoleArn.split(':');
  const arn = `arn:aws:sts::${account}:assumed-${role}/${RoleSessionName}`;
  const expiresAtMs = options.nowMs + (options.sessionSeconds ?? DurationSeconds) * 1000;
  const session = options.keys.startSession(account, arn, expiresAtMs);
  return {
    Credentials: {
      AccessKeyId: session.accessKeyId,
      SecretAccessKey: session.secretAccessKey,
      SessionToken: session.sessionToken,
      Expiration: new Date(expiresAtMs).toISOString(),
    },
    AssumedRoleUser: {
      AssumedRoleId: `AROA${randomBytes(8).toString('hex').toUpperCase()}:${RoleSessionName}`,
      Arn: arn,
    },
  };
}

export function callerIdentity(signer: Signer): Elements {
  return { Arn: signer.arn, UserId: signer.accessKeyId, Account: signer.accountId };
}

function matchesExternalId({ externalId }: Role, received: string | undefined): boolean {
  if (externalId === undefined) return true;
  const [expected, sent] = [Buffer.from(externalId), Buffer.from(received ?? '')];
  return expected.length === sent.length && timingSafeEqual(expected, sent);
}

function accessDenied(signer: Signer, role: string): AwsError {
  const message = `User: ${signer.arn} is not authorized to perform: sts:AssumeRole on resource: ${role}`;
  return new AwsError('AccessDenied', message, 403);
}

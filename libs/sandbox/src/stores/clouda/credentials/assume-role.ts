import { randomBytes, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { AwsRefusal } from '../aws-error.ts';
import type { Elements } from '../endpoint/sts-protocol.ts';
import type { AccessKeys, Signer } from './access-keys.ts';

/** A role that the sandbox lets anybody assume who signs with a known key and knows the external id. */
export interface Role {
  arn: string;
  externalId?: string;
}

const Input = z.object({
  RoleArn: z.string().regex(/^arn:aws:iam::\d{12}:role\/[\w+=,.@/-]{1,512}$/),
  RoleSessionName: z.string().regex(/^[\w+=,.@-]{2,64}$/),
  ExternalId: z.string().optional(),
  DurationSeconds: z.coerce.number().int().min(900).max(43_200).default(3600),
});

/**
 * Credentials for a role.
 * @param sessionSeconds how long sessions really are, whatever was asked for; undefined leaves that to the caller
 * @throws AwsRefusal ValidationError, AccessDenied
 */
export function assumeRole(
  sent: Record<string, string>,
  signer: Signer,
  terms: { keys: AccessKeys; roles: readonly Role[]; sessionSeconds: number | undefined; nowMs: number },
): Elements {
  const parsed = Input.safeParse(sent);
  if (!parsed.success)
    throw new AwsRefusal('ValidationError', `${parsed.error.issues[0]?.path.join('.')} is not valid.`);
  const { RoleArn, RoleSessionName, ExternalId, DurationSeconds } = parsed.data;
  if (!terms.roles.some((role) => role.arn === RoleArn && isExternalId(role, ExternalId)))
    throw denied(signer, RoleArn);
  const [, , , , account = '', role = ''] = RoleArn.split(':');
  const arn = `arn:aws:sts::${account}:assumed-${role}/${RoleSessionName}`;
  const expiresAtMs = terms.nowMs + (terms.sessionSeconds ?? DurationSeconds) * 1000;
  const session = terms.keys.startSession(account, arn, expiresAtMs);
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

function isExternalId({ externalId }: Role, given: string | undefined): boolean {
  if (externalId === undefined) return true;
  const [expected, sent] = [Buffer.from(externalId), Buffer.from(given ?? '')];
  return expected.length === sent.length && timingSafeEqual(expected, sent);
}

function denied(signer: Signer, role: string): AwsRefusal {
  const message = `User: ${signer.arn} is not authorized to perform: sts:AssumeRole on resource: ${role}`;
  return new AwsRefusal('AccessDenied', message, 403);
}

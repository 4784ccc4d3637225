import { z } from 'zod';
import type { FederatedCredentials } from '../../../federation/federated-credential.ts';
import {
  FederatedTokenError,
  type TokenRefusal,
  verifyFederatedToken,
} from '../../../federation/verify-federated-token.ts';
import { AwsError } from '../aws-error.ts';
import type { Elements } from '../endpoint/sts-protocol.ts';
import { RoleInput, type RoleOptions, startRoleSession } from './assume-role.ts';

const Input = RoleInput.extend({ WebIdentityToken: z.string().min(4).max(20_000) });

/** https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRoleWithWebIdentity.html#API_AssumeRoleWithWebIdentity_Errors */
const refusals: Readonly<Record<TokenRefusal, readonly [code: string, message: string, status: number]>> = {
  malformed: ['InvalidIdentityToken', 'The ID Token provided is not a valid JWT.', 400],
  issuer: ['InvalidIdentityToken', 'No OpenIDConnect provider found in your account', 400],
  unreachable: [
    'InvalidIdentityToken',
    "Couldn't retrieve verification key from your identity provider",
    400,
  ],
  signature: ['InvalidIdentityToken', 'Provided Token is not authentic', 400],
  expired: ['ExpiredTokenException', 'Token expired', 400],
  audience: ['InvalidIdentityToken', 'Incorrect token audience', 400],
  subject: ['AccessDenied', 'Not authorized to perform sts:AssumeRoleWithWebIdentity', 403],
};

/**
 * Returns session credentials for a role that trusts the identity in a token. The request is not signed.
 * @throws AwsError ValidationError, InvalidIdentityToken, ExpiredTokenException, AccessDenied
 */
export async function assumeRoleWithWebIdentity(
  sent: Record<string, string>,
  options: RoleOptions & { federation: FederatedCredentials },
): Promise<Elements> {
  const parsed = Input.safeParse(sent);
  if (!parsed.success)
    throw new AwsError('ValidationError', `${parsed.error.issues[0]?.path.join('.')} is not valid.`);
  const { WebIdentityToken: token, ...role } = parsed.data;
  const registered = options.federation
    .of('cloudA-sm')
    .filter(({ role_arn: arn = role.RoleArn }) => arn === role.RoleArn);
  const match = await verifyFederatedToken(token, registered, options.nowMs).catch(refused);
  if (!options.roles.some(({ arn }) => arn === role.RoleArn)) throw new AwsError(...refusals.subject);
  return {
    ...startRoleSession(role, options),
    SubjectFromWebIdentityToken: match.subject,
    Audience: match.audience,
    Provider: match.issuer,
  };
}

function refused(error: unknown): never {
  throw error instanceof FederatedTokenError ? new AwsError(...refusals[error.reason]) : error;
}

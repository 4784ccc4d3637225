import { errors } from 'jose';
import type { Directory } from '../../directory/directory.ts';
import { verifyAccessToken } from '../../directory/verify-access-token.ts';
import { ArmError, invalidToken } from './arm-error.ts';

/** Who sends a request. */
export interface Caller {
  /** Object ID of the service principal. */
  oid: string;
  appid: string;
}

/** The audiences of the resource API, by its host: one of each national cloud, and the older one of the public cloud. */
const audiences: Readonly<Record<string, readonly string[]>> = {
  'management.chinacloudapi.cn': [
    'https://management.chinacloudapi.cn',
    'https://management.core.chinacloudapi.cn',
  ],
  'management.usgovcloudapi.net': [
    'https://management.usgovcloudapi.net',
    'https://management.core.usgovcloudapi.net',
  ],
};
const publicAudiences = ['https://management.azure.com', 'https://management.core.windows.net'];

/**
 * Verifies the bearer token of a request to the API of a cloud.
 * @throws ArmError
 */
export async function callerOf(
  authorization: string | undefined,
  { directory, host, nowMs }: { directory: Directory; host: string; nowMs: number },
): Promise<Caller> {
  const { tenantId } = directory;
  const token = /^Bearer (.+)$/i.exec(authorization ?? '')?.[1];
  if (token === undefined)
    throw unauthorized(
      tenantId,
      'AuthenticationFailed',
      "Authentication failed. The 'Authorization' header is missing.",
    );
  try {
    const audience = audiences[host.toLowerCase()] ?? publicAudiences;
    const { oid, appid, azp } = await verifyAccessToken(token, directory, { audience, nowMs });
    return { oid: String(oid), appid: String(appid ?? azp) };
  } catch (error) {
    if (error instanceof errors.JOSEError) throw unauthorized(tenantId, ...reasonOf(error, tenantId));
    throw error;
  }
}

function reasonOf(error: errors.JOSEError, tenantId: string): [code: string, message: string] {
  if (error instanceof errors.JWTExpired)
    return [
      'ExpiredAuthenticationToken',
      'The access token expiry UTC time is earlier than current UTC time.',
    ];
  const claim = error instanceof errors.JWTClaimValidationFailed ? error.claim : undefined;
  if (claim === 'aud')
    return [
      'InvalidAuthenticationTokenAudience',
      'The access token has been obtained for wrong audience or resource.',
    ];
  if (claim === 'iss' || claim === 'tid')
    return [
      'InvalidAuthenticationTokenTenant',
      `The access token is from the wrong issuer. It must match the tenant 'https://sts.windows.net/${tenantId}/' associated with this subscription.`,
    ];
  return ['InvalidAuthenticationToken', invalidToken];
}

const unauthorized = (tenantId: string, code: string, message: string): ArmError =>
  new ArmError(401, code, message, {
    'www-authenticate': `Bearer authorization_uri="https://login.microsoftonline.com/${tenantId}", error="invalid_token", error_description="${message}"`,
  });

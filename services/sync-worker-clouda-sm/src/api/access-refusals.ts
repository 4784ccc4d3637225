import type { Refusal } from '@secrets/sync-worker';

const api = 'https://docs.aws.amazon.com/secretsmanager/latest/apireference/';
const common = `${api}CommonErrors.html`;
const sts = 'https://docs.aws.amazon.com/STS/latest/APIReference/';
const assume = `${sts}API_AssumeRole.html`;
const assumeWithToken = `${sts}API_AssumeRoleWithWebIdentity.html`;
const denied = 'https://docs.aws.amazon.com/IAM/latest/UserGuide/troubleshoot_access-denied.html';
const encryption = 'https://docs.aws.amazon.com/secretsmanager/latest/userguide/security-encryption.html';
const signing = 'https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-troubleshooting.html';

/** Refusals of credentials. */
export const ofCredentials: readonly Refusal[] = [
  {
    code: ['ExpiredToken', 'ExpiredTokenException'],
    kind: 'unauthenticated',
    sentence: 'the session or the identity token has expired',
    remedy: 'check the clock of the worker, and identity_token_ttl',
    source: assumeWithToken,
  },
  {
    code: ['InvalidSignatureException', 'SignatureDoesNotMatch', 'RequestExpired'],
    kind: 'unauthenticated',
    sentence: 'the signature was not accepted',
    remedy: 'check secret_access_key, and the clock of the worker',
    source: signing,
  },
  {
    code: ['UnrecognizedClientException', 'InvalidClientTokenId', 'InvalidAccessKeyId', 'AuthFailure'],
    kind: 'unauthenticated',
    sentence: 'the access key does not exist, is not active, or is not valid in this region',
    remedy: 'check access_key_id, and that the region is enabled in the account',
    source: common,
  },
  {
    code: [
      'IncompleteSignature',
      'IncompleteSignatureException',
      'MissingAuthenticationToken',
      'MissingAuthenticationTokenException',
    ],
    kind: 'unauthenticated',
    sentence: 'the credentials were not accepted',
    remedy: 'check access_key_id and secret_access_key',
    source: common,
  },
  {
    code: ['InvalidIdentityTokenException', 'IDPRejectedClaimException'],
    kind: 'unauthenticated',
    sentence: 'the identity token was not accepted',
    remedy: 'check the identity provider in IAM: issuer, audience and signing keys',
    source: assumeWithToken,
  },
  {
    code: ['IDPCommunicationErrorException'],
    kind: 'unavailable',
    sentence: 'the provider could not reach the issuer of identity tokens',
    source: assumeWithToken,
  },
  {
    code: ['RegionDisabledException'],
    kind: 'forbidden',
    sentence: 'the token service is not activated in the region',
    remedy: 'activate it in the account settings of IAM',
    source: assume,
  },
  {
    code: ['OptInRequired'],
    kind: 'forbidden',
    sentence: 'the account needs a subscription for the service',
    remedy: 'enable the service or the region in the account',
    source: common,
  },
];

/** Codes of a missing permission; the message says which kind of policy denies it. */
const denials = ['AccessDeniedException', 'AccessDenied', 'NotAuthorized'];

const keyDenied = 'the KMS key may not be used';
const allowKey = 'allow kms:Decrypt and kms:GenerateDataKey in the key policy and to the credentials';

/** Refusals by the policies of an account, a secret or a key. */
export const ofPolicies: readonly Refusal[] = [
  {
    code: denials,
    text: /access to kms is not allowed/i,
    kind: 'forbidden',
    sentence: keyDenied,
    remedy: allowKey,
    source: encryption,
  },
  {
    code: denials,
    text: /not authorized to perform: kms:/i,
    kind: 'forbidden',
    sentence: keyDenied,
    remedy: allowKey,
    source: denied,
  },
  {
    code: ['KMSAccessDeniedException'],
    kind: 'forbidden',
    sentence: keyDenied,
    remedy: allowKey,
    source: encryption,
  },
  {
    code: denials,
    text: /service control policy/i,
    kind: 'forbidden',
    sentence: 'a service control policy of the organization denies it',
    remedy: 'have the administrator of the organization permit it for the account',
    source: denied,
  },
  {
    code: denials,
    text: /resource control policy/i,
    kind: 'forbidden',
    sentence: 'a resource control policy of the organization denies it',
    remedy: 'have the administrator of the organization permit it for the account',
    source: denied,
  },
  {
    code: denials,
    text: /permissions boundary/i,
    kind: 'forbidden',
    sentence: 'the permissions boundary of the role or user denies it',
    remedy: 'extend the permissions boundary',
    source: denied,
  },
  {
    code: denials,
    text: /vpc endpoint policy/i,
    kind: 'forbidden',
    sentence: 'the policy of the VPC endpoint denies it',
    remedy: 'extend the policy of the endpoint',
    source: denied,
  },
  {
    code: denials,
    text: /resource-based policy/i,
    kind: 'forbidden',
    sentence: 'the resource policy of the secret denies it',
    remedy: 'change the resource policy of the secret',
    source: denied,
  },
  {
    code: denials,
    text: /session policy/i,
    kind: 'forbidden',
    sentence: 'the session policy of the credentials denies it',
    remedy: 'use credentials without it',
    source: denied,
  },
  {
    code: denials,
    text: /to perform:? sts:AssumeRole/i,
    kind: 'forbidden',
    sentence: 'the role may not be assumed',
    remedy: 'check the trust policy of role_arn and external_id, and sts:AssumeRole of the credentials',
    source: denied,
  },
  {
    code: denials,
    kind: 'forbidden',
    sentence: 'permission denied',
    remedy: 'allow the action in a policy of the role or user',
    source: denied,
  },
];

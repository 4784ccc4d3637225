import type { Refusal } from '@secrets/sync-worker';

const api = 'https://docs.aws.amazon.com/secretsmanager/latest/apireference/';
const common = `${api}CommonErrors.html`;
const create = `${api}API_CreateSecret.html`;
const put = `${api}API_PutSecretValue.html`;
const sts = 'https://docs.aws.amazon.com/STS/latest/APIReference/';
const assume = `${sts}API_AssumeRole.html`;
const assumeWithToken = `${sts}API_AssumeRoleWithWebIdentity.html`;
const denied = 'https://docs.aws.amazon.com/IAM/latest/UserGuide/troubleshoot_access-denied.html';
const encryption = 'https://docs.aws.amazon.com/secretsmanager/latest/userguide/security-encryption.html';
const keyStates = 'https://docs.aws.amazon.com/kms/latest/developerguide/key-state.html';
const signing = 'https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-troubleshooting.html';

const ofCredentials: readonly Refusal[] = [
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

const ofPolicies: readonly Refusal[] = [
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

const ofKeys: readonly Refusal[] = [
  {
    code: ['EncryptionFailure'],
    kind: 'rejected_for_now',
    sentence: 'the value cannot be encrypted: the KMS key is not available or not enabled',
    remedy: 'enable the key, or change kms_key_id',
    source: create,
  },
  {
    code: ['DecryptionFailure'],
    kind: 'rejected_for_now',
    sentence: 'the value cannot be decrypted: the KMS key is not available or not enabled',
    remedy: 'enable the key with which the secret was encrypted',
    source: create,
  },
  {
    code: ['KMSDisabledException', 'KMSInvalidStateException', 'KMSNotFoundException'],
    kind: 'rejected_for_now',
    sentence: 'the KMS key does not exist, is not enabled or is being deleted',
    remedy: 'enable the key, or change kms_key_id',
    source: keyStates,
  },
  {
    code: ['InvalidParameterException'],
    text: /invalid kms key/i,
    kind: 'rejected_for_now',
    sentence: 'the KMS key does not exist in this region',
    remedy: 'check kms_key_id, and the keys of replica_regions',
    source: 'https://github.com/hashicorp/terraform-provider-aws/pull/13303',
  },
];

const ofSecrets: readonly Refusal[] = [
  {
    code: ['LimitExceededException'],
    kind: 'full',
    sentence: 'a quota of the account or of the secret is reached',
    remedy: 'remove secrets or versions, or have the quota raised',
    source: create,
  },
  {
    code: ['InvalidRequestException'],
    kind: 'rejected_for_now',
    sentence: 'the state of the secret does not permit it',
    remedy: 'look whether it is being deleted, or is managed by another service',
    source: put,
  },
  {
    code: ['PreconditionNotMetException'],
    kind: 'rejected_for_now',
    sentence: 'the secret is being changed, or lacks what the call needs',
    source: create,
  },
  {
    code: ['ResourceExistsException'],
    kind: 'rejected_for_now',
    sentence: 'a secret or a version of this name exists',
    source: create,
  },
  {
    code: ['ResourceNotFoundException'],
    kind: 'rejected_for_now',
    sentence: 'the secret was not found',
    source: put,
  },
  {
    code: ['InvalidParameterException'],
    text: /replica region/i,
    kind: 'rejected_for_now',
    sentence: 'a region of the replicas does not exist, or is not enabled in the account',
    remedy: 'check replica_regions, and enable the region',
    source: `${api}API_ReplicateSecretToRegions.html`,
  },
  {
    code: ['InvalidParameterException', 'ValidationException', 'ValidationError'],
    kind: 'rejected',
    sentence: 'the request was rejected',
    remedy: 'check the name template, tags, kms_key_id and replica_regions',
    source: put,
  },
  {
    code: ['MalformedPolicyDocumentException'],
    kind: 'rejected',
    sentence: 'the request was rejected',
    source: create,
  },
  {
    code: ['PackedPolicyTooLargeException'],
    kind: 'rejected',
    sentence: 'the policies and tags of the session are too large',
    remedy: 'pass fewer session tags on to the role',
    source: assume,
  },
  {
    code: ['InvalidNextTokenException'],
    kind: 'rejected_for_now',
    sentence: 'the list cannot be continued at this position',
    source: `${api}API_ListSecrets.html`,
  },
];

const ofService: readonly Refusal[] = [
  {
    code: [
      'Throttling',
      'ThrottlingException',
      'ThrottledException',
      'RequestLimitExceeded',
      'RequestThrottled',
      'RequestThrottledException',
      'TooManyRequestsException',
      'SlowDown',
      'PriorRequestNotComplete',
    ],
    kind: 'throttled',
    sentence: 'too many requests',
    source: common,
  },
  {
    code: [
      'InternalServiceError',
      'InternalFailure',
      'ServiceUnavailable',
      'ServiceUnavailableException',
      'RequestTimeout',
      'RequestTimeoutException',
    ],
    kind: 'unavailable',
    sentence: 'the service is unavailable',
    source: common,
  },
];

/** The documented refusals of every call, of which the first that matches counts. */
export const refusals: readonly Refusal[] = [
  ...ofCredentials,
  ...ofPolicies,
  ...ofKeys,
  ...ofSecrets,
  ...ofService,
];

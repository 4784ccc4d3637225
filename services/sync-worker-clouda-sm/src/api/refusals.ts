import type { Refusal } from '@secrets/sync-worker';
import { ofCredentials, ofPolicies } from './access-refusals.ts';

const api = 'https://docs.aws.amazon.com/secretsmanager/latest/apireference/';
const common = `${api}CommonErrors.html`;
const create = `${api}API_CreateSecret.html`;
const put = `${api}API_PutSecretValue.html`;
const sts = 'https://docs.aws.amazon.com/STS/latest/APIReference/';
const assume = `${sts}API_AssumeRole.html`;
const keyStates = 'https://docs.aws.amazon.com/kms/latest/developerguide/key-state.html';

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

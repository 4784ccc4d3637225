import type { Refusal } from '@secrets/sync-worker';

const codes = 'https://github.com/googleapis/googleapis/blob/master/google/rpc/code.proto';
const errors = 'https://cloud.google.com/apis/design/errors';
const quotas = 'https://cloud.google.com/secret-manager/quotas';
const access = 'https://cloud.google.com/secret-manager/docs/access-control';
const customerKeys = 'https://cloud.google.com/secret-manager/docs/cmek';
const locationPolicy =
  'https://cloud.google.com/resource-manager/docs/organization-policy/defining-locations';
const keyPolicy = 'https://cloud.google.com/kms/docs/cmek-org-policy';
const reasons = 'https://github.com/googleapis/googleapis/blob/master/google/api/error_reason.proto';
const tokens = 'https://datatracker.ietf.org/doc/html/rfc6749#section-5.2';

const ofCredentials: readonly Refusal[] = [
  {
    code: ['UNAUTHENTICATED'],
    kind: 'unauthenticated',
    sentence: 'the credentials were not accepted',
    remedy: 'check that the service account and its key exist and are not disabled',
    source: codes,
  },
  {
    code: ['invalid_grant', 'invalid_client', 'unauthorized_client', 'access_denied'],
    kind: 'unauthenticated',
    sentence: 'the credentials were not accepted',
    remedy: 'check the key or the provider of identity tokens, and the clock of the worker',
    source: tokens,
  },
  {
    code: ['invalid_request', 'invalid_scope', 'invalid_target', 'unsupported_grant_type'],
    kind: 'rejected',
    sentence: 'the request for a token was rejected',
    remedy: 'check workload_identity_provider and service_account_email',
    source: tokens,
  },
];

const ofOrganization: readonly Refusal[] = [
  {
    code: ['PERMISSION_DENIED', 'FAILED_PRECONDITION', 'INVALID_ARGUMENT'],
    text: /gcp.restrict(Non)?Cmek/i,
    kind: 'rejected_for_now',
    sentence: 'an organization policy restricts the encryption keys',
    remedy: 'set global_kms_key or locational_kms_keys to a key that the policy permits',
    source: keyPolicy,
  },
  {
    code: ['PERMISSION_DENIED', 'FAILED_PRECONDITION', 'INVALID_ARGUMENT'],
    text: /gcp.resourceLocations/i,
    kind: 'rejected_for_now',
    sentence: 'an organization policy restricts the locations',
    remedy: 'set replication_locations or location to what the policy permits',
    source: locationPolicy,
  },
  {
    code: ['PERMISSION_DENIED', 'FAILED_PRECONDITION', 'INVALID_ARGUMENT'],
    text: /"LOCATION_ORG_POLICY_VIOLATED"/,
    kind: 'rejected_for_now',
    sentence: 'an organization policy restricts the locations',
    remedy: 'set replication_locations or location to what the policy permits',
    source: reasons,
  },
  {
    code: ['PERMISSION_DENIED', 'FAILED_PRECONDITION'],
    text: /organization(al)? policy/i,
    kind: 'rejected_for_now',
    sentence: 'an organization policy does not permit it',
    remedy: 'have the administrator of the organization permit it for the project',
    source: 'https://cloud.google.com/resource-manager/docs/organization-policy/overview',
  },
  {
    code: ['PERMISSION_DENIED'],
    text: /"SECURITY_POLICY_VIOLATED"/,
    kind: 'forbidden',
    sentence: 'a perimeter of VPC Service Controls does not permit it',
    remedy: 'add an ingress rule for the credentials and the address of the worker',
    source: reasons,
  },
];

const ofProject: readonly Refusal[] = [
  {
    code: ['PERMISSION_DENIED'],
    text: /"SERVICE_DISABLED"/,
    kind: 'forbidden',
    sentence: 'permission denied: the API is not enabled in the project',
    remedy: 'enable secretmanager.googleapis.com in it',
    source: reasons,
  },
  {
    code: ['PERMISSION_DENIED'],
    text: /"BILLING_DISABLED"/,
    kind: 'forbidden',
    sentence: 'permission denied: the project has no active billing account',
    remedy: 'enable billing for it',
    source: reasons,
  },
];

const ofKeys: readonly Refusal[] = [
  {
    code: ['PERMISSION_DENIED', 'FAILED_PRECONDITION', 'NOT_FOUND', 'INVALID_ARGUMENT'],
    text: /cloud kms/i,
    kind: 'rejected_for_now',
    sentence: 'the encryption key does not exist in the location, is not enabled, or may not be used',
    remedy:
      'check global_kms_key and locational_kms_keys, and grant the service agent of Secret Manager the role roles/cloudkms.cryptoKeyEncrypterDecrypter',
    source: customerKeys,
  },
  {
    code: ['PERMISSION_DENIED', 'FAILED_PRECONDITION', 'NOT_FOUND', 'INVALID_ARGUMENT'],
    text: /cryptoKeys./i,
    kind: 'rejected_for_now',
    sentence: 'the encryption key does not exist in the location, is not enabled, or may not be used',
    remedy:
      'check global_kms_key and locational_kms_keys, and grant the service agent of Secret Manager the role roles/cloudkms.cryptoKeyEncrypterDecrypter',
    source: customerKeys,
  },
];

const ofSecrets: readonly Refusal[] = [
  {
    code: ['PERMISSION_DENIED'],
    kind: 'forbidden',
    sentence: 'permission denied',
    remedy: 'grant the permission in the project, under a condition that holds for the secret',
    source: access,
  },
  {
    code: ['FAILED_PRECONDITION'],
    kind: 'rejected_for_now',
    sentence: 'the state of the secret or of the project does not permit it',
    remedy: 'look at the secret, and at the policies of the organization',
    source: codes,
  },
  {
    code: ['NOT_FOUND'],
    kind: 'rejected_for_now',
    sentence: 'the project or the secret was not found',
    remedy: 'check project_id',
    source: codes,
  },
  {
    code: ['ALREADY_EXISTS'],
    kind: 'rejected_for_now',
    sentence: 'a secret of this name exists',
    source: codes,
  },
  {
    code: ['INVALID_ARGUMENT'],
    text: /invalid location/i,
    kind: 'rejected_for_now',
    sentence: 'a location does not exist, or does not permit secrets',
    remedy: 'check replication_locations and location',
    source: 'https://cloud.google.com/secret-manager/docs/locations',
  },
  {
    code: ['INVALID_ARGUMENT', 'OUT_OF_RANGE', 'UNIMPLEMENTED'],
    kind: 'rejected',
    sentence: 'the request was rejected',
    remedy: 'check the name template, custom_tags, and the settings of locations and keys',
    source: codes,
  },
];

const ofService: readonly Refusal[] = [
  {
    code: ['RESOURCE_EXHAUSTED', 'rate_limit_exceeded'],
    kind: 'throttled',
    sentence: 'too many requests, or a quota is used up',
    source: quotas,
  },
  {
    code: ['UNAVAILABLE', 'DEADLINE_EXCEEDED', 'ABORTED', 'INTERNAL', 'UNKNOWN', 'CANCELLED', 'DATA_LOSS'],
    kind: 'unavailable',
    sentence: 'the service is unavailable',
    source: errors,
  },
];

/** The documented refusals of every call, of which the first that matches counts. */
export const refusals: readonly Refusal[] = [
  ...ofCredentials,
  ...ofOrganization,
  ...ofProject,
  ...ofKeys,
  ...ofSecrets,
  ...ofService,
];

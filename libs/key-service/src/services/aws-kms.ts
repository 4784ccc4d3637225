import { DecryptCommand, EncryptCommand, KMSClient } from '@aws-sdk/client-kms';
import type { KeyContext, KeyFault, KeyService, OpenKeyService } from '../key-service.ts';

/** AWS KMS, with symmetric keys. The context is an encryption context, which IAM conditions and CloudTrail show. */
export const open: OpenKeyService = (endpoint): KeyService => {
  const clients = new Map<string | undefined, KMSClient>();
  const clientFor = (key: string): KMSClient => {
    const region = regionOf(key);
    const client = clients.get(region) ?? clientIn(region, endpoint);
    clients.set(region, client);
    return client;
  };
  return {
    async wrap({ key, plain, context }, abortSignal) {
      const command = new EncryptCommand({
        KeyId: key,
        Plaintext: plain,
        EncryptionContext: encryptionContext(context),
      });
      const { CiphertextBlob, KeyId = key } = await clientFor(key).send(command, { abortSignal });
      return { key: KeyId, ciphertext: present(CiphertextBlob) };
    },
    async unwrap({ key, ciphertext, context }, abortSignal) {
      const command = new DecryptCommand({
        KeyId: key,
        CiphertextBlob: ciphertext,
        EncryptionContext: encryptionContext(context),
      });
      return present((await clientFor(key).send(command, { abortSignal })).Plaintext);
    },
    faultOf,
  };
};

/** The caller repeats a request and ends one that takes too long, so the SDK does neither. */
const clientIn = (region: string | undefined, endpoint: string | undefined): KMSClient =>
  new KMSClient({
    maxAttempts: 1,
    ...(region === undefined ? {} : { region }),
    ...(endpoint === undefined ? {} : { endpoint }),
  });

/** An ARN contains the region. That of another name is the one of the environment. */
const regionOf = (key: string): string | undefined => /^arn:[\w-]+:kms:([\w-]+):/.exec(key)?.[1];

const encryptionContext = ({ installation, keyId }: KeyContext): Record<string, string> => ({
  'secrets-service:installation': installation,
  'secrets-service:key-id': keyId,
});

function present(bytes: Uint8Array | undefined): Uint8Array {
  if (bytes === undefined) throw new Error('the response lacks a field');
  return bytes;
}

/** https://docs.aws.amazon.com/kms/latest/APIReference/API_Decrypt.html, and CommonErrors.html beside it */
const faults: Record<string, KeyFault> = {
  AccessDeniedException: 'denied',
  CredentialsProviderError: 'denied',
  ExpiredTokenException: 'denied',
  IncompleteSignature: 'denied',
  InvalidSignatureException: 'denied',
  MissingAuthenticationTokenException: 'denied',
  NotAuthorized: 'denied',
  OptInRequired: 'denied',
  UnrecognizedClientException: 'denied',
  DisabledException: 'disabled',
  KMSInvalidStateException: 'disabled',
  NotFoundException: 'not_found',
  IncorrectKeyException: 'altered',
  InvalidCiphertextException: 'altered',
  DependencyTimeoutException: 'unavailable',
  KeyUnavailableException: 'unavailable',
  KMSInternalException: 'unavailable',
  TimeoutError: 'unavailable',
  LimitExceededException: 'throttled',
  ThrottlingException: 'throttled',
  TooManyRequestsException: 'throttled',
};

function faultOf(error: unknown): KeyFault {
  const {
    name = '',
    code,
    $metadata,
  } = error as {
    name?: string;
    code?: unknown;
    $metadata?: { httpStatusCode?: number };
  };
  const status = $metadata?.httpStatusCode ?? 0;
  const known = faults[name];
  if (known !== undefined) return known;
  if (status === 429) return 'throttled';
  if (status === 401 || status === 403) return 'denied';
  return status >= 500 || typeof code === 'string' ? 'unavailable' : 'unexpected';
}

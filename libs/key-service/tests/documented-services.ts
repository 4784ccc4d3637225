import {
  constants,
  generateKeyPairSync,
  type KeyPairKeyObjectResult,
  privateDecrypt,
  publicEncrypt,
} from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Answer,
  type Condition,
  type DocumentedServer,
  decryptedWith,
  encryptedWith,
  type Received,
  startDocumented,
} from './documented-keys.ts';

/** A key service that runs for a test: its server, and what a process needs to use it. */
export interface TestedService {
  /** The name in key files. */
  service: 'awskms' | 'azurekv' | 'gcpkms';
  /** Two keys of the service. */
  keys: readonly [string, string];
  endpointVariable: 'AWSKMS_ENDPOINT_URL' | 'AZUREKV_ENDPOINT_URL' | 'GCPKMS_ENDPOINT_URL';
  server: DocumentedServer;
  /** The environment in which the provider's SDK finds credentials. */
  credentials: Record<string, string>;
}

/** https://docs.aws.amazon.com/kms/latest/APIReference/API_Decrypt.html */
export async function startAwsKms(): Promise<TestedService> {
  const refusals: Record<string, Answer> = {
    disabled: { status: 400, body: { __type: 'DisabledException' } },
    denied: { status: 400, body: { __type: 'AccessDeniedException' } },
    throttled: { status: 400, body: { __type: 'ThrottlingException' } },
    failing: { status: 500, body: { __type: 'KMSInternalException' } },
    'unknown key': { status: 400, body: { __type: 'NotFoundException' } },
  };
  const server = await startDocumented(({ request, body, condition }) => {
    const refusal = refusals[condition];
    if (refusal !== undefined) return refusal;
    const [key, context] = [body.KeyId as string, JSON.stringify(body.EncryptionContext)];
    if (request.headers['x-amz-target'] === 'TrentService.Encrypt') {
      const ciphertext = encryptedWith(key, context, Buffer.from(body.Plaintext as string, 'base64'));
      return { status: 200, body: { KeyId: key, CiphertextBlob: ciphertext.toString('base64') } };
    }
    const plain = decryptedWith(key, context, Buffer.from(body.CiphertextBlob as string, 'base64'));
    if (plain === undefined) return { status: 400, body: { __type: 'InvalidCiphertextException' } };
    return { status: 200, body: { KeyId: key, Plaintext: plain.toString('base64') } };
  });
  const arn = (id: string) => `arn:aws:kms:eu-west-1:111122223333:key/${id}`;
  return {
    service: 'awskms',
    keys: [arn('1234abcd-12ab-34cd-56ef-1234567890ab'), arn('0987dcba-09fe-87dc-65ba-ab0987654321')],
    endpointVariable: 'AWSKMS_ENDPOINT_URL',
    server,
    credentials: { AWS_ACCESS_KEY_ID: 'AKIATEST', AWS_SECRET_ACCESS_KEY: 'of-a-test' },
  };
}

/** https://learn.microsoft.com/rest/api/keyvault/keys/unwrap-key/unwrap-key, and the token endpoint of App Service */
export async function startAzureKeys(): Promise<TestedService> {
  const pairs = new Map(
    ['one', 'two'].map((name) => [name, generateKeyPairSync('rsa', { modulusLength: 2048 })]),
  );
  const isToken = ({ url = '' }: Received['request']) => url.startsWith('/token');
  const server = await startDocumented(({ request, body, condition }) => {
    if (isToken(request)) return { status: 200, body: tokenOfAppService() };
    if (request.headers.authorization === undefined) return challenge;
    const [, name = '', operation] = /^\/keys\/(\w+)\/\w+(?:\/(\w+))?/.exec(request.url ?? '') ?? [];
    const pair = pairs.get(name);
    return (
      azureRefusals[condition] ??
      (pair ? keyOperation(pair, { name, operation, body }) : azureRefused(404, 'KeyNotFound'))
    );
  }, isToken);
  return {
    service: 'azurekv',
    keys: ['https://tests.vault.azure.net/keys/one/v1', 'https://tests.vault.azure.net/keys/two/v1'],
    endpointVariable: 'AZUREKV_ENDPOINT_URL',
    server,
    credentials: {
      AZURE_TOKEN_CREDENTIALS: 'ManagedIdentityCredential',
      IDENTITY_ENDPOINT: `${server.url}/token`,
      IDENTITY_HEADER: 'of-a-test',
    },
  };
}

const azureRefused = (status: number, code: string, inner = ''): Answer => ({
  status,
  body: { error: { code, message: 'refused', innererror: { code: inner } } },
});

const azureRefusals: Partial<Record<Condition, Answer>> = {
  disabled: azureRefused(403, 'Forbidden', 'KeyDisabled'),
  denied: azureRefused(403, 'Forbidden', 'AccessDenied'),
  throttled: azureRefused(429, 'Throttled', 'VaultRequestTypeLimitReached'),
  failing: azureRefused(503, 'ServiceUnavailable'),
  'unknown key': azureRefused(404, 'KeyNotFound'),
};

interface KeyOperation {
  name: string;
  operation: string | undefined;
  body: Record<string, unknown>;
}

function keyOperation(
  { publicKey, privateKey }: KeyPairKeyObjectResult,
  { name, operation, body }: KeyOperation,
): Answer {
  const kid = `https://tests.vault.azure.net/keys/${name}/v1`;
  const padding = { padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' };
  const { n, e } = publicKey.export({ format: 'jwk' });
  const value = Buffer.from((body.value as string) ?? '', 'base64url');
  const key = { kid, kty: 'RSA', n, e, key_ops: ['wrapKey', 'unwrapKey'] };
  if (operation === undefined) return { status: 200, body: { key, attributes: { enabled: true } } };
  try {
    const result =
      operation === 'wrapkey'
        ? publicEncrypt({ key: publicKey, ...padding }, value)
        : privateDecrypt({ key: privateKey, ...padding }, value);
    return { status: 200, body: { kid, value: result.toString('base64url') } };
  } catch {
    return azureRefused(400, 'BadParameter');
  }
}

const tokenOfAppService = () => ({
  access_token: 'token-of-a-test',
  expires_on: String(Math.floor(Date.now() / 1_000) + 3_600),
  resource: 'https://vault.azure.net',
  token_type: 'Bearer',
});

const challenge: Answer = {
  status: 401,
  body: {},
  headers: {
    'www-authenticate':
      'Bearer authorization="https://login.microsoftonline.com/00000000-0000-0000-0000-000000000000", resource="https://vault.azure.net"',
  },
};

/** https://cloud.google.com/kms/docs/reference/rest/v1/projects.locations.keyRings.cryptoKeys/decrypt */
export async function startGoogleKms(): Promise<TestedService> {
  const isToken = ({ url = '' }: Received['request']) => url === '/token';
  const server = await startDocumented(({ request, body, condition }) => {
    if (isToken(request)) return { status: 200, body: tokenOfGoogle };
    if (request.headers.authorization !== 'Bearer token-of-a-test')
      return googleRefused(401, 'UNAUTHENTICATED');
    return googleRefusals[condition] ?? cryptoKeyOperation(request.url ?? '', body);
  }, isToken);
  const key = (name: string) => `projects/p/locations/europe-west1/keyRings/r/cryptoKeys/${name}`;
  return {
    service: 'gcpkms',
    keys: [key('one'), key('two')],
    endpointVariable: 'GCPKMS_ENDPOINT_URL',
    server,
    credentials: { GOOGLE_APPLICATION_CREDENTIALS: credentialFile(`${server.url}/token`) },
  };
}

const tokenOfGoogle = {
  access_token: 'token-of-a-test',
  expires_in: 3_600,
  token_type: 'Bearer',
  issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
};

const googleRefused = (status: number, reason: string): Answer => ({
  status,
  body: { error: { code: status, message: 'refused', status: reason } },
});

const googleRefusals: Partial<Record<Condition, Answer>> = {
  disabled: googleRefused(400, 'FAILED_PRECONDITION'),
  denied: googleRefused(403, 'PERMISSION_DENIED'),
  throttled: googleRefused(429, 'RESOURCE_EXHAUSTED'),
  failing: googleRefused(503, 'UNAVAILABLE'),
  'unknown key': googleRefused(404, 'NOT_FOUND'),
};

function cryptoKeyOperation(url: string, body: Record<string, unknown>): Answer {
  const [, key = '', verb] = /^\/v1\/(.*):(\w+)$/.exec(url) ?? [];
  const aad = body.additionalAuthenticatedData as string;
  if (verb === 'encrypt') {
    const ciphertext = encryptedWith(key, aad, Buffer.from(body.plaintext as string, 'base64'));
    return {
      status: 200,
      body: { name: `${key}/cryptoKeyVersions/1`, ciphertext: ciphertext.toString('base64') },
    };
  }
  const plain = decryptedWith(key, aad, Buffer.from(body.ciphertext as string, 'base64'));
  return plain === undefined
    ? googleRefused(400, 'INVALID_ARGUMENT')
    : { status: 200, body: { plaintext: plain.toString('base64') } };
}

function credentialFile(tokenUrl: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'google-credentials-'));
  writeFileSync(join(folder, 'subject'), 'of-a-test');
  const file = join(folder, 'credentials.json');
  const credentials = {
    type: 'external_account',
    audience: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/p',
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    token_url: tokenUrl,
    credential_source: { file: join(folder, 'subject') },
  };
  writeFileSync(file, JSON.stringify(credentials));
  return file;
}

import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { PipelinePolicy } from '@azure/core-rest-pipeline';
import { DefaultAzureCredential } from '@azure/identity';
import { CryptographyClient } from '@azure/keyvault-keys';
import type { KeyContext, KeyFault, KeyService, OpenKeyService } from '../key-service.ts';

const algorithm = 'RSA-OAEP-256';
const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;

/**
 * Azure Key Vault and Managed HSM, with RSA keys. RSA-OAEP authenticates no context, so the service wraps a key that is used
 * once, and that key encrypts ours (AES-256-GCM) with the context. Layout of a ciphertext, from its end:
 *   wrapped key | 12 nonce | 32 ciphertext | 16 tag
 */
export const open: OpenKeyService = (endpoint): KeyService => {
  const credential = new DefaultAzureCredential();
  const clientOf = (key: string) =>
    new CryptographyClient(checkedKey(key), credential, {
      retryOptions: { maxRetries: 0 },
      redirectOptions: { maxRetries: 0 },
      ...(endpoint === undefined ? {} : detourTo(endpoint)),
    });
  return {
    async wrap({ key, plain, context }, abortSignal) {
      const once = randomBytes(keyBytes);
      const { result, keyID = key } = await clientOf(key).wrapKey(algorithm, once, { abortSignal });
      const ciphertext = Buffer.concat([result, ...sealed(once, context, plain)]);
      once.fill(0);
      return { key: keyID, ciphertext };
    },
    async unwrap({ key, ciphertext, context }, abortSignal) {
      const bodyAt = ciphertext.length - (nonceBytes + keyBytes + tagBytes);
      if (bodyAt <= 0) throw new AlteredError();
      const { result } = await clientOf(key).unwrapKey(algorithm, ciphertext.subarray(0, bodyAt), {
        abortSignal,
      });
      return opened(result, context, ciphertext.subarray(bodyAt));
    },
    faultOf,
  };
};

class AlteredError extends Error {
  override readonly name = 'AlteredError';
}

const clouds = /\.(vault|managedhsm)\.(azure\.net|azure\.cn|usgovcloudapi\.net)$/;

/** No token is sent to another host: whoever writes a key file does not decide who gets one. */
function checkedKey(key: string): string {
  const url = URL.canParse(key) ? new URL(key) : undefined;
  if (
    url?.protocol !== 'https:' ||
    !clouds.test(url.hostname) ||
    !/^\/keys\/[\w-]+(\/\w+)?$/.test(url.pathname)
  )
    throw new KeyNameError();
  return key;
}

class KeyNameError extends Error {
  override readonly name = 'KeyNameError';
}

/**
 * The SDK requires https, and that the vault is the one for which the token is, so it keeps the URL of the provider, and the
 * request goes elsewhere.
 */
const detourTo = (endpoint: string) => {
  const policy: PipelinePolicy = {
    name: 'detour',
    sendRequest: async (request, next) => {
      const { url } = request;
      const { pathname, search } = new URL(url);
      request.url = `${endpoint.replace(/\/+$/, '')}${pathname}${search}`;
      try {
        return await next(request);
      } finally {
        request.url = url;
      }
    },
  };
  return { additionalPolicies: [{ policy, position: 'perRetry' as const }], allowInsecureConnection: true };
};

const aadOf = ({ installation, keyId }: KeyContext): Buffer =>
  Buffer.from(JSON.stringify([installation, keyId]));

function sealed(key: Uint8Array, context: KeyContext, plain: Uint8Array): Buffer[] {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes });
  cipher.setAAD(aadOf(context));
  return [nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()];
}

function opened(key: Uint8Array, context: KeyContext, body: Uint8Array): Uint8Array {
  if (key.length !== keyBytes) throw new AlteredError();
  const decipher = createDecipheriv('aes-256-gcm', key, body.subarray(0, nonceBytes), {
    authTagLength: tagBytes,
  });
  decipher.setAAD(aadOf(context));
  decipher.setAuthTag(body.subarray(body.length - tagBytes));
  const plain = decipher.update(body.subarray(nonceBytes, body.length - tagBytes));
  try {
    return Buffer.concat([plain, decipher.final()]);
  } catch {
    throw new AlteredError();
  }
}

const faultsByName: Record<string, KeyFault> = {
  AlteredError: 'altered',
  AggregateAuthenticationError: 'denied',
  AuthenticationError: 'denied',
  AuthenticationRequiredError: 'denied',
  CredentialUnavailableError: 'denied',
  KeyNameError: 'unexpected',
  AbortError: 'unavailable',
};

interface AzureError {
  name?: string;
  message?: string;
  code?: string;
  statusCode?: number;
  details?: { error?: { innerError?: { code?: string } } };
}

/** https://learn.microsoft.com/azure/key-vault/general/rest-error-codes */
function faultOf(error: unknown): KeyFault {
  const { name = '', message = '', code, statusCode: status, details } = error as AzureError;
  const known = faultsByName[name];
  if (known !== undefined) return known;
  if (/^Key(Disabled|NotYetValid|Expired)$/.test(details?.error?.innerError?.code ?? '')) return 'disabled';
  if (status === undefined)
    // The SDK itself refuses a key that is expired or may not unwrap.
    return /^Key .*(cannot be used|not supported|expired)/i.test(message)
      ? 'disabled'
      : code === undefined
        ? 'unexpected'
        : 'unavailable';
  if (status === 401 || status === 403) return 'denied';
  if (status === 404) return 'not_found';
  if (status === 429) return 'throttled';
  if (status >= 500) return 'unavailable';
  return status === 400 ? 'altered' : 'unexpected';
}

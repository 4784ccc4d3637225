import { GoogleAuth } from 'google-auth-library';
import { z } from 'zod';
import type { KeyContext, KeyFault, KeyService, OpenKeyService } from '../key-service.ts';

const scope = 'https://www.googleapis.com/auth/cloudkms';
const maxResponseBytes = 64 * 1024;

const Encrypted = z.object({ ciphertext: z.base64() });
const Decrypted = z.object({ plaintext: z.base64() });
const Refusal = z.object({ error: z.object({ status: z.string().default('') }) });

/**
 * Google Cloud KMS, with symmetric keys, through its REST API; the context is additional authenticated data.
 * https://cloud.google.com/kms/docs/reference/rest/v1/projects.locations.keyRings.cryptoKeys/decrypt
 */
export const open: OpenKeyService = (endpoint = 'https://cloudkms.googleapis.com'): KeyService => {
  // Without a project, which is not needed here, it is looked up: with requests that take other permissions.
  const auth = new GoogleAuth({ scopes: [scope], projectId: 'unused' });
  const post = async (key: string, verb: string, fields: object, signal: AbortSignal): Promise<unknown> => {
    if (!/^projects\/[^/]+\/locations\/[^/]+\/keyRings\/[^/]+\/cryptoKeys\/[\w-]+$/.test(key))
      throw new KeyNameError();
    const url = `${endpoint.replace(/\/+$/, '')}/v1/${key}:${verb}`;
    const headers = await auth.getRequestHeaders(url);
    headers.set('content-type', 'application/json');
    const body = JSON.stringify(fields);
    const response = await fetch(url, { method: 'POST', redirect: 'error', headers, body, signal });
    const text = await boundedText(response);
    if (!response.ok) throw new RefusedError(response.status, refusalOf(text));
    return JSON.parse(text);
  };
  return {
    async wrap({ key, plain, context }, signal) {
      const fields = { plaintext: base64(plain), additionalAuthenticatedData: aadOf(context) };
      const { ciphertext } = Encrypted.parse(await post(key, 'encrypt', fields, signal));
      return { key, ciphertext: Buffer.from(ciphertext, 'base64') };
    },
    async unwrap({ key, ciphertext, context }, signal) {
      const fields = { ciphertext: base64(ciphertext), additionalAuthenticatedData: aadOf(context) };
      const { plaintext } = Decrypted.parse(await post(key, 'decrypt', fields, signal));
      return Buffer.from(plaintext, 'base64');
    },
    faultOf,
  };
};

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');

const aadOf = ({ installation, keyId }: KeyContext): string =>
  base64(Buffer.from(JSON.stringify([installation, keyId])));

class KeyNameError extends Error {
  override readonly name = 'KeyNameError';
}

class RefusedError extends Error {
  override readonly name: string;
  readonly refusal: { status: number; reason: string };

  constructor(status: number, reason: string) {
    super('the service refused the request');
    this.name = reason === '' ? `HTTP ${status}` : reason;
    this.refusal = { status, reason };
  }
}

/** The status in the body, such as `PERMISSION_DENIED`; empty if there is none. */
function refusalOf(text: string): string {
  try {
    const { status } = Refusal.parse(JSON.parse(text)).error;
    return /^[A-Z_]{1,40}$/.test(status) ? status : '';
  } catch {
    return '';
  }
}

async function boundedText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > maxResponseBytes) throw new Error('the response is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function faultOf(error: unknown): KeyFault {
  if (error instanceof RefusedError) return faultOfRefusal(error.refusal);
  const { name, code, status, cause, message = '' } = error as Record<string, unknown> & { message?: string };
  if (name === 'KeyNameError' || name === 'ZodError' || name === 'SyntaxError') return 'unexpected';
  // What follows are errors of the credentials and of the network.
  if (typeof status === 'number')
    return status >= 500 ? 'unavailable' : status === 429 ? 'throttled' : 'denied';
  if (/default credentials|credential/i.test(message)) return 'denied';
  return typeof code === 'string' || cause !== undefined ? 'unavailable' : 'unexpected';
}

/** https://cloud.google.com/apis/design/errors#handling_errors */
function faultOfRefusal({ status, reason }: { status: number; reason: string }): KeyFault {
  if (reason === 'FAILED_PRECONDITION') return 'disabled';
  if (status === 401 || status === 403) return 'denied';
  if (status === 404) return 'not_found';
  if (status === 429) return 'throttled';
  if (status >= 500) return 'unavailable';
  return status === 400 ? 'altered' : 'unexpected';
}

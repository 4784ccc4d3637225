import { setTimeout as sleep } from 'node:timers/promises';
import type { Unwrap, WrappedKey } from '@secrets/seal';
import type { KeyFault, KeyService, OpenKeyService } from './key-service.ts';

/** The implementations, each with the SDK of its provider: a process that reads no wrapped key loads none of them. */
const modules = {
  awskms: (): Promise<{ open: OpenKeyService }> => import('./services/aws-kms.ts'),
  azurekv: (): Promise<{ open: OpenKeyService }> => import('./services/azure-keys.ts'),
  gcpkms: (): Promise<{ open: OpenKeyService }> => import('./services/google-kms.ts'),
};

type ServiceName = keyof typeof modules;
const serviceNames = Object.keys(modules) as ServiceName[];
const isService = (name: string): name is ServiceName => Object.hasOwn(modules, name);

/** The settings of `keyServiceEnv`. */
export interface KeyServiceSettings {
  KEY_SERVICE_CONTEXT: string;
  AWSKMS_ENDPOINT_URL?: string | undefined;
  AZUREKV_ENDPOINT_URL?: string | undefined;
  GCPKMS_ENDPOINT_URL?: string | undefined;
}

const endpointOf = (settings: KeyServiceSettings, service: ServiceName): string | undefined =>
  ({
    awskms: settings.AWSKMS_ENDPOINT_URL,
    azurekv: settings.AZUREKV_ENDPOINT_URL,
    gcpkms: settings.GCPKMS_ENDPOINT_URL,
  })[service];

const sentences: Record<KeyFault, string> = {
  unavailable: 'the service is not available',
  throttled: 'the service limits the rate of requests',
  denied: 'access is denied, or there are no credentials',
  disabled: 'the key of the service is disabled, expired, or will be deleted',
  not_found: 'the service does not know its key',
  altered:
    'the line was altered, or wrapped with another key, under another id, or with another KEY_SERVICE_CONTEXT',
  unexpected: 'the service did not accept the request',
};

/** A key could not be wrapped or unwrapped. The message names the key's id, the service and the reason, never the line. */
export class KeyServiceError extends Error {
  override readonly name = 'KeyServiceError';
  readonly fault: KeyFault;

  constructor({ id, service }: { id: string; service: string }, fault: KeyFault, code: string) {
    super(`the key ${id} could not be wrapped or unwrapped by ${service}: ${sentences[fault]} (${code})`);
    this.fault = fault;
  }
}

/**
 * Whether an error passes without a change of the key file: when the service is available again, or its operator permits the
 * request or enables the key.
 */
export const mayPass = (error: unknown): boolean =>
  error instanceof KeyServiceError && !['altered', 'unexpected'].includes(error.fault);

/** Limits of requests: the number of attempts, the time of each, and the first pause between them. */
interface KeyRequestLimits {
  attempts: number;
  timeoutMs: number;
  firstPauseMs: number;
}

const defaultLimits: KeyRequestLimits = { attempts: 4, timeoutMs: 5_000, firstPauseMs: 250 };

/** Wraps and unwraps keys of key files. */
export interface KeyServices {
  /** @param target the name of a service and a key of it, such as `awskms:arn:aws:kms:…` */
  wrap(target: string, key: { id: string; isBound: boolean; bytes: Buffer }): Promise<WrappedKey>;
  /** @throws {KeyServiceError} */
  unwrap: Unwrap;
}

/** Opens the key services. Each is loaded when it is used for the first time. */
export function openKeyServices(settings: KeyServiceSettings, limits = defaultLimits): KeyServices {
  const installation = settings.KEY_SERVICE_CONTEXT;
  const opened = new Map<ServiceName, Promise<KeyService>>();
  const serviceOf = (id: string, name: string): Promise<KeyService> => {
    if (!isService(name))
      throw new Error(`the key ${id} names an unknown key service; known ones: ${serviceNames.join(', ')}`);
    const service = opened.get(name) ?? modules[name]().then(({ open }) => open(endpointOf(settings, name)));
    opened.set(name, service);
    return service;
  };
  return {
    wrap: async (target, { id, isBound, bytes }) => {
      const [, service = '', key = ''] = /^([^:]*):(.+)$/.exec(target) ?? [];
      const one = await serviceOf(id, service);
      const wrapped = await requested({ id, service }, one, limits, (signal) =>
        one.wrap({ key, plain: bytes, context: { installation, keyId: id } }, signal),
      );
      return { id, isBound, service, wrappedWith: wrapped.key, ciphertext: Buffer.from(wrapped.ciphertext) };
    },
    unwrap: async ({ id, service, wrappedWith: key, ciphertext }) => {
      const one = await serviceOf(id, service);
      const request = { key, ciphertext, context: { installation, keyId: id } };
      return Buffer.from(
        await requested({ id, service }, one, limits, (signal) => one.unwrap(request, signal)),
      );
    },
  };
}

/** The only place where a request to a key service is repeated. */
async function requested<Result>(
  named: { id: string; service: string },
  service: KeyService,
  { attempts, timeoutMs, firstPauseMs }: KeyRequestLimits,
  request: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    const result = await bounded(request, timeoutMs).catch((error: unknown) => {
      const isLate = error instanceof LateError;
      return new KeyServiceError(named, isLate ? 'unavailable' : service.faultOf(error), codeOf(error));
    });
    if (!(result instanceof KeyServiceError)) return result;
    if (attempt >= attempts || !['unavailable', 'throttled'].includes(result.fault)) throw result;
    await sleep(firstPauseMs * 2 ** (attempt - 1) * (0.5 + Math.random()));
  }
}

class LateError extends Error {
  override readonly name = 'no response in time';
}

/** Ends a request after some time, also where what it waits for ignores the signal, such as the credentials. */
async function bounded<Result>(
  request: (signal: AbortSignal) => Promise<Result>,
  timeoutMs: number,
): Promise<Result> {
  const ending = new AbortController();
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    late.reject(new LateError());
    ending.abort();
  }, timeoutMs);
  try {
    return await Promise.race([request(ending.signal), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** The code of a provider, never its message, which may contain what was sent. */
function codeOf(error: unknown): string {
  const { name, code } = error as { name?: unknown; code?: unknown };
  const text = typeof code === 'string' && name === 'Error' ? code : name;
  return typeof text === 'string' && /^[\w .-]{1,60}$/.test(text) ? text : 'no code';
}

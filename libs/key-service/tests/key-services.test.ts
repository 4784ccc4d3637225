import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { WrappedKey } from '@secrets/seal';
import { KeyServiceError, type KeyServiceSettings, mayPass, openKeyServices } from '../src/key-services.ts';
import type { Condition } from './documented-keys.ts';
import { startAwsKms, startAzureKeys, startGoogleKms, type TestedService } from './documented-services.ts';

const limits = { attempts: 3, timeoutMs: 400, firstPauseMs: 1 };

describe.each([
  ['AWS KMS', startAwsKms],
  ['Azure Key Vault', startAzureKeys],
  ['Google Cloud KMS', startGoogleKms],
])('%s', (_name, start) => {
  let tested: TestedService;
  let environment: Record<string, string | undefined>;
  const key = { id: 'k1', isBound: true, bytes: randomBytes(32) };
  let wrapped: WrappedKey;

  const services = (settings: Partial<KeyServiceSettings> = {}) =>
    openKeyServices(
      { KEY_SERVICE_CONTEXT: 'here', [tested.endpointVariable]: tested.server.url, ...settings },
      limits,
    );

  /** The error of unwrapping a key. */
  const refusal = async (line: WrappedKey, of = services()): Promise<KeyServiceError> => {
    const error = await of.unwrap(line).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(KeyServiceError);
    return error as KeyServiceError;
  };

  beforeAll(async () => {
    tested = await start();
    environment = Object.fromEntries(
      Object.keys(tested.credentials).map((name) => [name, process.env[name]]),
    );
    Object.assign(process.env, tested.credentials);
    wrapped = await openKeyServices(
      { KEY_SERVICE_CONTEXT: 'here', [tested.endpointVariable]: tested.server.url },
      { ...limits, timeoutMs: 20_000 }, // the SDK is loaded
    ).wrap(`${tested.service}:${tested.keys[0]}`, key);
  });
  afterAll(async () => {
    await tested.server.stop();
    for (const [name, value] of Object.entries(environment))
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
  });

  test('unwraps what it has wrapped, with its id and the word bound', async () => {
    expect(wrapped).toMatchObject({
      id: 'k1',
      isBound: true,
      service: tested.service,
      wrappedWith: tested.keys[0],
    });
    expect(wrapped.ciphertext.includes(key.bytes)).toBe(false);
    expect(await services().unwrap(wrapped)).toEqual(key.bytes);
  });

  test.each<[string, (line: WrappedKey) => WrappedKey]>([
    ['with another key of the service', (line) => ({ ...line, wrappedWith: tested.keys[1] })],
    ['under another id', (line) => ({ ...line, id: 'k2' })],
    ['after its last byte was altered', (line) => ({ ...line, ciphertext: altered(line.ciphertext, -1) })],
    ['after its first byte was altered', (line) => ({ ...line, ciphertext: altered(line.ciphertext, 0) })],
    ['after it was cut', (line) => ({ ...line, ciphertext: line.ciphertext.subarray(0, 40) })],
  ])('does not unwrap it %s, and waiting does not help', async (_case, change) => {
    const error = await refusal(change(wrapped));
    expect(error.fault).toBe('altered');
    expect(mayPass(error)).toBe(false);
  });

  test('does not unwrap it for another installation', async () => {
    expect((await refusal(wrapped, services({ KEY_SERVICE_CONTEXT: 'elsewhere' }))).fault).toBe('altered');
  });

  test.each<[Condition, string]>([
    ['disabled', 'disabled'],
    ['denied', 'denied'],
    ['unknown key', 'not_found'],
  ])('a key that is %s is asked for once, and may be waited for', async (condition, fault) => {
    tested.server.become(condition);
    const error = await refusal(wrapped);
    tested.server.become('works');
    expect(error.fault).toBe(fault);
    expect(mayPass(error)).toBe(true);
    expect(error.message).toContain('the key k1');
    expect(error.message).not.toContain(wrapped.ciphertext.toString('base64').slice(0, 20));
  });

  test.each<[Condition, string]>([
    ['throttled', 'throttled'],
    ['failing', 'unavailable'],
    ['hanging', 'unavailable'],
  ])('a service that is %s is asked again a few times, in one place', async (condition, fault) => {
    const of = services();
    await of.unwrap(wrapped); // credentials are there
    const before = tested.server.requests();
    tested.server.become(condition);
    const startedAt = performance.now();
    const error = await refusal(wrapped, of);
    tested.server.become('works');
    expect(error.fault).toBe(fault);
    expect(performance.now() - startedAt).toBeLessThan(3_000);
    // Azure's SDK first makes a request without a token, and one for the public key.
    expect(tested.server.requests() - before).toBeLessThanOrEqual(
      limits.attempts * (tested.service === 'azurekv' ? 3 : 1),
    );
    expect(tested.server.requests() - before).toBeGreaterThanOrEqual(limits.attempts);
  });

  test('a request that is throttled once succeeds', async () => {
    tested.server.become('throttled', 1);
    expect(await services().unwrap(wrapped)).toEqual(key.bytes);
  });

  test('a service that does not listen may be waited for', async () => {
    const error = await refusal(wrapped, services({ [tested.endpointVariable]: 'http://127.0.0.1:9' }));
    expect(error.fault).toBe('unavailable');
  });
});

test('an unknown service is an error that names the id', async () => {
  const line = { id: 'k7', isBound: false, service: 'other', wrappedWith: 'x', ciphertext: randomBytes(60) };
  await expect(openKeyServices({ KEY_SERVICE_CONTEXT: 'here' }).unwrap(line)).rejects.toThrow(
    'the key k7 names an unknown key service; known ones: awskms, azurekv, gcpkms',
  );
});

test('a key of Azure that is not in a vault of Azure gets no token', async () => {
  const line = { id: 'k1', isBound: false, service: 'azurekv', ciphertext: randomBytes(400) };
  const unwrapped = openKeyServices({ KEY_SERVICE_CONTEXT: 'here' }, limits).unwrap({
    ...line,
    wrappedWith: 'https://vault.azure.net.example.com/keys/k/v1',
  });
  await expect(unwrapped).rejects.toMatchObject({ fault: 'unexpected' });
});

function altered(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[at < 0 ? copy.length + at : at]! ^= 1;
  return copy;
}

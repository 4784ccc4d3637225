import { SecretManagerServiceClient } from '@google-cloud/secret-manager';
import { Fault } from '@secrets/domain';
import { abortable, parseResponse, repeatIfThrottled, requireSegment } from '@secrets/sync-worker';
import CRC32C from 'crc-32/crc32c.js';
import type { AuthClient } from 'google-auth-library';
import { type CallOptions, loggingUtils } from 'google-gax';
import { z } from 'zod';
import { faultOf } from './call-faults.ts';
import { Accessed, Listed, Secret, Version } from './schema.ts';

// The SDK can log requests with their values (GOOGLE_SDK_NODE_LOGGING).
loggingUtils.setBackend(null);

const noRetries = { retry: null } satisfies CallOptions;

type Send<Result> = (
  client: SecretManagerServiceClient,
  options: CallOptions,
) => Promise<[Result, ...unknown[]]>;

export interface Encryption {
  customerManagedEncryption?: { kmsKeyName: string };
}

/** Where and with which keys the provider stores a secret; a regional one has no replication. */
export type Storage = { replication: Replication } | Encryption;

type Replication =
  | { automatic: Encryption }
  | { userManaged: { replicas: ({ location: string } & Encryption)[] } };

/** The calls of the secret manager. Each is one request, aborted by the signal; its failures are `Fault`s. */
export class SecretManagerApi {
  readonly #location: string;
  readonly #parent: string;
  readonly #authenticate: () => Promise<AuthClient>;
  #client: Promise<SecretManagerServiceClient> | undefined;

  /** @param location that of regional secrets; otherwise empty */
  constructor(
    { project, location }: { project: string; location: string },
    authenticate: () => Promise<AuthClient>,
  ) {
    const suffix = location === '' ? '' : `/locations/${requireSegment('location', location)}`;
    this.#location = location;
    this.#parent = `projects/${requireProject(project)}${suffix}`;
    this.#authenticate = authenticate;
  }

  /** Throws a fault with the code `ALREADY_EXISTS` if the name is in use, and `NOT_FOUND` if there is no such project. */
  async create(
    secretId: string,
    { labels, storage }: { labels: Record<string, string>; storage: Storage },
    signal: AbortSignal,
  ): Promise<Secret> {
    const request = { parent: this.#parent, secretId, secret: { ...storage, labels } };
    const response = await this.#call('CreateSecret', signal, (client, options) =>
      client.createSecret(request, options),
    );
    return requireLabels('CreateSecret', parseResponse('CreateSecret', Secret, response), labels);
  }

  /** Throws a fault with the code `NOT_FOUND` if there is no such secret. */
  async get(id: string, signal: AbortSignal): Promise<Secret> {
    const name = this.#nameOf(id);
    const response = await this.#call('GetSecret', signal, (client, options) =>
      client.getSecret({ name }, options),
    );
    return parseResponse('GetSecret', Secret, response);
  }

  /** Replaces all labels. Throws a fault with the code `FAILED_PRECONDITION` if the secret has another etag. */
  async updateLabels(
    id: string,
    { labels, etag }: { labels: Record<string, string>; etag: string },
    signal: AbortSignal,
  ): Promise<Secret> {
    const request = { secret: { name: this.#nameOf(id), labels, etag }, updateMask: { paths: ['labels'] } };
    const response = await this.#call('UpdateSecret', signal, (client, options) =>
      client.updateSecret(request, options),
    );
    return requireLabels('UpdateSecret', parseResponse('UpdateSecret', Secret, response), labels);
  }

  /** Replaces the encryption keys; the locations must be those of the secret. */
  async updateKeys(id: string, storage: Storage, signal: AbortSignal): Promise<Secret> {
    const path = 'replication' in storage ? 'replication' : 'customer_managed_encryption';
    const request = { secret: { name: this.#nameOf(id), ...storage }, updateMask: { paths: [path] } };
    const response = await this.#call('UpdateSecret', signal, (client, options) =>
      client.updateSecret(request, options),
    );
    return parseResponse('UpdateSecret', Secret, response);
  }

  /** Throws a fault with the code `FAILED_PRECONDITION` if the secret has another etag. */
  async delete(id: string, etag: string, signal: AbortSignal): Promise<void> {
    const request = { name: this.#nameOf(id), etag };
    await this.#call('DeleteSecret', signal, (client, options) => client.deleteSecret(request, options));
  }

  /** Adds a version with a checksum, which the provider verifies. */
  async addVersion(id: string, value: string, signal: AbortSignal): Promise<Version> {
    const data = Buffer.from(value, 'utf8');
    const request = { parent: this.#nameOf(id), payload: { data, dataCrc32c: checksumOf(data) } };
    const response = await this.#call('AddSecretVersion', signal, (client, options) =>
      client.addSecretVersion(request, options),
    );
    return parseResponse('AddSecretVersion', Version, response);
  }

  /**
   * Returns the number and the value of a version. Throws a fault with the code `NOT_FOUND` if there is no such version, and
   * `FAILED_PRECONDITION` if it is disabled or destroyed.
   */
  async access(
    id: string,
    version: number | 'latest',
    signal: AbortSignal,
  ): Promise<{ number: number; value: Buffer }> {
    const name = `${this.#nameOf(id)}/versions/${version}`;
    const response = await this.#call('AccessSecretVersion', signal, (client, options) =>
      client.accessSecretVersion({ name }, options),
    );
    const { name: number, payload } = parseResponse('AccessSecretVersion', Accessed, response);
    const value = Buffer.from(payload.data);
    if (payload.dataCrc32c && payload.dataCrc32c !== String(checksumOf(value)))
      throw new Fault(
        'unavailable',
        'AccessSecretVersion: the checksum of the response does not match its content',
      );
    return { number, value };
  }

  /** Returns the enabled versions, newest first, up to a hundred of them. */
  async enabledVersions(id: string, signal: AbortSignal): Promise<Version[]> {
    const request = { parent: this.#nameOf(id), filter: 'state:ENABLED', pageSize: 100 };
    const response = await this.#call('ListSecretVersions', signal, (client, options) =>
      client.listSecretVersions(request, { ...options, autoPaginate: false }),
    );
    return parseResponse('ListSecretVersions', z.array(Version), response);
  }

  /** Returns a page of the secrets of the project or the location, and where the next one begins; empty after the last one. */
  async list(pageToken: string, signal: AbortSignal, pageSize = 1_000) {
    const request = { parent: this.#parent, pageSize, pageToken };
    const page = await this.#call('ListSecrets', signal, async (client, options) => {
      const [secrets, , response] = await client.listSecrets(request, { ...options, autoPaginate: false });
      return [{ secrets, next: response?.nextPageToken }];
    });
    return parseResponse('ListSecrets', Listed, page);
  }

  /** Throws a fault with the code `FAILED_PRECONDITION` if the version has another etag or is destroyed. */
  async destroy(
    id: string,
    { number, etag }: Pick<Version, 'number' | 'etag'>,
    signal: AbortSignal,
  ): Promise<void> {
    const request = { name: `${this.#nameOf(id)}/versions/${number}`, etag };
    await this.#call('DestroySecretVersion', signal, (client, options) =>
      client.destroySecretVersion(request, options),
    );
  }

  async close(): Promise<void> {
    await (await this.#client)?.close();
  }

  #nameOf = (id: string): string => `${this.#parent}/secrets/${id}`;

  /** If the token is refused, begins with a new one and repeats the call once. */
  async #call<Result>(operation: string, signal: AbortSignal, send: Send<Result>): Promise<Result> {
    try {
      return await repeatIfThrottled(signal, () => this.#once(operation, signal, send));
    } catch (error) {
      if (!(error instanceof Fault) || error.kind !== 'unauthenticated') throw error;
      this.#client = undefined;
      return this.#once(operation, signal, send);
    }
  }

  /** A client that could not be opened is not kept. */
  #opened(): Promise<SecretManagerServiceClient> {
    if (this.#client !== undefined) return this.#client;
    const opening = this.#authenticate().then((authClient) => open(authClient, this.#location));
    this.#client = opening;
    opening.catch(() => {
      if (this.#client === opening) this.#client = undefined;
    });
    return opening;
  }

  async #once<Result>(operation: string, signal: AbortSignal, send: Send<Result>): Promise<Result> {
    const timedOut = () => new Fault('unavailable', `${operation}: the call was aborted at its time limit`);
    try {
      const client = await this.#opened();
      // The SDK ignores the signal while it requests a token.
      const [result] = await abortable(send(client, { ...noRetries, signal }), signal, timedOut);
      return result;
    } catch (error) {
      throw signal.aborted ? timedOut() : faultOf(error, operation);
    }
  }
}

/** The provider's client does not encode what it puts into a path. The ID of a domain-scoped project contains a colon. */
const requireProject = (project: string): string => requireSegment('project_id', project).replace('%3A', ':');

/** Throws `Fault` `not_ready` if the response shows that the provider has not stored the labels. */
function requireLabels(operation: string, stored: Secret, labels: Record<string, string>): Secret {
  if (Object.entries(labels).every(([key, value]) => stored.labels[key] === value)) return stored;
  throw new Fault('not_ready', `${operation}: the secret was stored without its labels`);
}

/** The REST transport, because connections of the other one, gRPC, cannot go through the egress guard. */
const open = (authClient: AuthClient, location: string): SecretManagerServiceClient =>
  new SecretManagerServiceClient({
    authClient,
    fallback: true,
    universeDomain: 'googleapis.com',
    ...(location === '' ? {} : { apiEndpoint: regionalHost(location) }),
  });

/** Regional secrets are only available there (https://cloud.google.com/secret-manager/regional-secrets/config-sm-rs). */
const regionalHost = (location: string): string => `secretmanager.${location}.rep.googleapis.com`;

/** CRC32C as an unsigned number. */
const checksumOf = (data: Buffer): number => CRC32C.buf(data) >>> 0;

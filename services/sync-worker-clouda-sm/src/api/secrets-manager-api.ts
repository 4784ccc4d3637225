import {
  CreateSecretCommand,
  type CreateSecretCommandInput,
  DeleteSecretCommand,
  type DeleteSecretCommandInput,
  DescribeSecretCommand,
  GetSecretValueCommand,
  ListSecretsCommand,
  PutSecretValueCommand,
  type PutSecretValueCommandInput,
  RemoveRegionsFromReplicationCommand,
  ReplicateSecretToRegionsCommand,
  RestoreSecretCommand,
  SecretsManagerClient,
  type ServiceInputTypes,
  type ServiceOutputTypes,
  TagResourceCommand,
  UntagResourceCommand,
  UpdateSecretCommand,
  type UpdateSecretCommandInput,
} from '@aws-sdk/client-secrets-manager';
import { Fault } from '@secrets/domain';
import {
  abortable,
  hasCode,
  malformedResponse,
  parseResponse,
  repeatIfThrottled,
} from '@secrets/sync-worker';
import { withFaults } from './call-faults.ts';
import type { ClientOptions, Credentials } from './credentials.ts';
import { Described, Listed, Replicated, Value, Written } from './schema.ts';

type Command<Input extends ServiceInputTypes, Output extends ServiceOutputTypes> = Parameters<
  typeof SecretsManagerClient.prototype.send<Input, Output>
>[0];

/** The attributes of a secret: what CreateSecret and UpdateSecret take under the same name, except its value. */
export type AttributeName = Exclude<
  keyof CreateSecretCommandInput & keyof UpdateSecretCommandInput,
  'ClientRequestToken' | 'SecretString' | 'SecretBinary'
>;

/** The calls of the secrets manager. Each is one request, aborted by the signal; its failures are `Fault`s. */
export class SecretsManagerApi {
  readonly #region: string;
  readonly #open: (region: string) => SecretsManagerClient;
  readonly #clients = new Map<string, SecretsManagerClient>();

  /** @param authenticate returns credentials that have no session yet */
  constructor(link: ClientOptions, authenticate: () => Credentials) {
    this.#region = link.region;
    this.#open = (region) => new SecretsManagerClient({ ...link, region, credentials: authenticate() });
  }

  async create(input: CreateSecretCommandInput, signal: AbortSignal) {
    const response = await this.#send('CreateSecret', new CreateSecretCommand(input), signal);
    return parseResponse('CreateSecret', Written, response);
  }

  async describe(SecretId: string, signal: AbortSignal) {
    const response = await this.#send('DescribeSecret', new DescribeSecretCommand({ SecretId }), signal);
    return parseResponse('DescribeSecret', Described, response);
  }

  /** Returns the value of a version. */
  async read(SecretId: string, VersionId: string, signal: AbortSignal) {
    const command = new GetSecretValueCommand({ SecretId, VersionId });
    return parseResponse('GetSecretValue', Value, await this.#send('GetSecretValue', command, signal));
  }

  /** Lists the secrets of the region, without those that are scheduled for deletion. */
  async list(NextToken: string | undefined, signal: AbortSignal) {
    const command = new ListSecretsCommand({ MaxResults: 100, NextToken });
    return parseResponse('ListSecrets', Listed, await this.#send('ListSecrets', command, signal));
  }

  async put(input: PutSecretValueCommandInput, signal: AbortSignal) {
    const response = await this.#send('PutSecretValue', new PutSecretValueCommand(input), signal);
    return parseResponse('PutSecretValue', Written, response);
  }

  /** Changes attributes of a secret, or the key of its replica in another region. An empty key is the provider's own. */
  async update(
    SecretId: string,
    attributes: Partial<Record<AttributeName, string>>,
    signal: AbortSignal,
    region = this.#region,
  ): Promise<void> {
    const command = new UpdateSecretCommand({ SecretId, ...attributes });
    await this.#send('UpdateSecret', command, signal, region);
  }

  async restore(SecretId: string, signal: AbortSignal): Promise<void> {
    await this.#send('RestoreSecret', new RestoreSecretCommand({ SecretId }), signal);
  }

  async delete(input: DeleteSecretCommandInput, signal: AbortSignal): Promise<void> {
    await this.#send('DeleteSecret', new DeleteSecretCommand(input), signal);
  }

  async tag(SecretId: string, tags: Record<string, string>, signal: AbortSignal): Promise<void> {
    await this.#send('TagResource', new TagResourceCommand({ SecretId, Tags: tagList(tags) }), signal);
  }

  async untag(SecretId: string, TagKeys: string[], signal: AbortSignal): Promise<void> {
    await this.#send('UntagResource', new UntagResourceCommand({ SecretId, TagKeys }), signal);
  }

  /** @param replicas the key of each, by region; without one, the default key of the account */
  async replicate(
    SecretId: string,
    replicas: Readonly<Record<string, string | undefined>>,
    signal: AbortSignal,
  ) {
    const AddReplicaRegions = Object.entries(replicas).map(([Region, KmsKeyId]) =>
      KmsKeyId ? { Region, KmsKeyId } : { Region },
    );
    const command = new ReplicateSecretToRegionsCommand({ SecretId, AddReplicaRegions });
    const response = await this.#send('ReplicateSecretToRegions', command, signal);
    return parseResponse('ReplicateSecretToRegions', Replicated, response);
  }

  async removeReplicas(SecretId: string, RemoveReplicaRegions: string[], signal: AbortSignal): Promise<void> {
    const command = new RemoveRegionsFromReplicationCommand({ SecretId, RemoveReplicaRegions });
    await this.#send('RemoveRegionsFromReplication', command, signal);
  }

  close(): void {
    for (const client of this.#clients.values()) client.destroy();
  }

  #clientOf(region: string): SecretsManagerClient {
    const client = this.#clients.get(region) ?? this.#open(region);
    this.#clients.set(region, client);
    return client;
  }

  /** If the session has expired, begins a new one and repeats the call once. The sockets belong to the guard and stay open. */
  async #send<Input extends ServiceInputTypes, Output extends ServiceOutputTypes>(
    operation: string,
    command: Command<Input, Output>,
    signal: AbortSignal,
    region = this.#region,
  ): Promise<Output> {
    const timedOut = () => new Fault('unavailable', `${operation}: the call was aborted at its time limit`);
    // The SDK ignores the signal while it fetches credentials.
    const send = () =>
      abortable(this.#clientOf(region).send(command, { abortSignal: signal }), signal, timedOut);
    const once = () =>
      repeatIfThrottled(signal, async () => requireOk(operation, await withFaults(operation, send)));
    try {
      return await once();
    } catch (error) {
      if (!hasCode(error, 'ExpiredToken', 'ExpiredTokenException')) throw error;
      this.#clients.delete(region);
      return once();
    }
  }
}

/**
 * Each operation succeeds with status 200 (https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_Operations.html),
 * but the SDK takes any below 300, and a body that is empty for one without fields.
 */
function requireOk<Output extends ServiceOutputTypes>(operation: string, output: Output): Output {
  const { httpStatusCode: status } = output.$metadata;
  if (status !== 200) throw malformedResponse(operation, status);
  return output;
}

export const tagList = (tags: Record<string, string>) =>
  Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));

import {
  CreateSecretCommand,
  type CreateSecretCommandInput,
  DeleteSecretCommand,
  type DeleteSecretCommandInput,
  DescribeSecretCommand,
  GetSecretValueCommand,
  PutSecretValueCommand,
  type PutSecretValueCommandInput,
  RemoveRegionsFromReplicationCommand,
  ReplicateSecretToRegionsCommand,
  RestoreSecretCommand,
  SecretsManagerClient,
  TagResourceCommand,
  UntagResourceCommand,
  UpdateSecretCommand,
} from '@aws-sdk/client-secrets-manager';
import { Fault } from '@secrets/domain';
import { abortable, hasCode, parseResponse, repeatIfThrottled } from '@secrets/sync-worker';
import { withFaults } from './call-faults.ts';
import type { Credentials, Link } from './credentials.ts';
import { Described, Replicated, Written } from './schema.ts';

interface CallOptions {
  abortSignal: AbortSignal;
}

/** The calls of the secrets manager. Each is one request, aborted by the signal; its failures are `Fault`s. */
export class SecretsManagerApi {
  readonly #open: () => SecretsManagerClient;
  #client: SecretsManagerClient;

  /** @param authenticate returns credentials that have no session yet */
  constructor(link: Link, authenticate: () => Credentials) {
    this.#open = () => new SecretsManagerClient({ ...link, credentials: authenticate() });
    this.#client = this.#open();
  }

  async create(input: CreateSecretCommandInput, signal: AbortSignal) {
    const command = new CreateSecretCommand(input);
    const response = await this.#call('CreateSecret', signal, (client, options) =>
      client.send(command, options),
    );
    return parseResponse('CreateSecret', Written, response);
  }

  async describe(SecretId: string, signal: AbortSignal) {
    const command = new DescribeSecretCommand({ SecretId });
    const response = await this.#call('DescribeSecret', signal, (client, options) =>
      client.send(command, options),
    );
    return parseResponse('DescribeSecret', Described, response);
  }

  /** Returns the value in clear text; undefined if it is binary. */
  async value(SecretId: string, signal: AbortSignal): Promise<string | undefined> {
    const command = new GetSecretValueCommand({ SecretId });
    const response = await this.#call('GetSecretValue', signal, (client, options) =>
      client.send(command, options),
    );
    return response.SecretString;
  }

  async put(input: PutSecretValueCommandInput, signal: AbortSignal) {
    const command = new PutSecretValueCommand(input);
    const response = await this.#call('PutSecretValue', signal, (client, options) =>
      client.send(command, options),
    );
    return parseResponse('PutSecretValue', Written, response);
  }

  async changeKey(SecretId: string, KmsKeyId: string, signal: AbortSignal): Promise<void> {
    const command = new UpdateSecretCommand({ SecretId, KmsKeyId });
    await this.#call('UpdateSecret', signal, (client, options) => client.send(command, options));
  }

  async restore(SecretId: string, signal: AbortSignal): Promise<void> {
    const command = new RestoreSecretCommand({ SecretId });
    await this.#call('RestoreSecret', signal, (client, options) => client.send(command, options));
  }

  async delete(input: DeleteSecretCommandInput, signal: AbortSignal): Promise<void> {
    const command = new DeleteSecretCommand(input);
    await this.#call('DeleteSecret', signal, (client, options) => client.send(command, options));
  }

  async tag(SecretId: string, tags: Record<string, string>, signal: AbortSignal): Promise<void> {
    const command = new TagResourceCommand({ SecretId, Tags: tagList(tags) });
    await this.#call('TagResource', signal, (client, options) => client.send(command, options));
  }

  async untag(SecretId: string, TagKeys: string[], signal: AbortSignal): Promise<void> {
    const command = new UntagResourceCommand({ SecretId, TagKeys });
    await this.#call('UntagResource', signal, (client, options) => client.send(command, options));
  }

  async replicate(SecretId: string, regions: readonly string[], signal: AbortSignal) {
    const AddReplicaRegions = regions.map((Region) => ({ Region }));
    const command = new ReplicateSecretToRegionsCommand({ SecretId, AddReplicaRegions });
    const response = await this.#call('ReplicateSecretToRegions', signal, (client, options) =>
      client.send(command, options),
    );
    return parseResponse('ReplicateSecretToRegions', Replicated, response);
  }

  async removeReplicas(SecretId: string, RemoveReplicaRegions: string[], signal: AbortSignal): Promise<void> {
    const command = new RemoveRegionsFromReplicationCommand({ SecretId, RemoveReplicaRegions });
    await this.#call('RemoveRegionsFromReplication', signal, (client, options) =>
      client.send(command, options),
    );
  }

  close(): void {
    this.#client.destroy();
  }

  /** If the session has expired, begins a new one and repeats the call once. The sockets belong to the guard and stay open. */
  async #call<Response>(
    operation: string,
    signal: AbortSignal,
    send: (client: SecretsManagerClient, options: CallOptions) => Promise<Response>,
  ): Promise<Response> {
    const timedOut = () => new Fault('unavailable', `${operation}: the call was aborted at its time limit`);
    // The SDK ignores the signal while it fetches credentials.
    const once = () =>
      repeatIfThrottled(signal, () =>
        withFaults(operation, () => abortable(send(this.#client, { abortSignal: signal }), signal, timedOut)),
      );
    try {
      return await once();
    } catch (error) {
      if (!hasCode(error, 'ExpiredToken', 'ExpiredTokenException')) throw error;
      this.#client = this.#open();
      return once();
    }
  }
}

export const tagList = (tags: Record<string, string>) =>
  Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));

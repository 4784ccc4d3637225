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
import type { CloudASettings } from '../secret/settings.ts';
import { credentialsFor, type Link } from './credentials.ts';
import { faulting, hasCode } from './fault-of.ts';
import { Described, parseResponse, Replicated, Written } from './schema.ts';

/** The calls of the secrets manager; failures are `Fault`s. Each is one request, given up with the signal. */
export class SecretsManagerApi {
  readonly #open: () => SecretsManagerClient;
  #client: SecretsManagerClient;

  constructor(settings: CloudASettings, keys: Record<string, string>, link: Link, prefix: string) {
    this.#open = () =>
      new SecretsManagerClient({ ...link, credentials: credentialsFor(settings, keys, link, prefix) });
    this.#client = this.#open();
  }

  async create(input: CreateSecretCommandInput, signal: AbortSignal) {
    return parseResponse(
      Written,
      await this.#call(
        'CreateSecret',
        (client, bound) => client.send(new CreateSecretCommand(input), bound),
        signal,
      ),
    );
  }

  async describe(SecretId: string, signal: AbortSignal) {
    const command = new DescribeSecretCommand({ SecretId });
    return parseResponse(
      Described,
      await this.#call('DescribeSecret', (client, bound) => client.send(command, bound), signal),
    );
  }

  /** The value in clear, undefined for one that is not text. */
  async value(SecretId: string, signal: AbortSignal): Promise<string | undefined> {
    const command = new GetSecretValueCommand({ SecretId });
    return (await this.#call('GetSecretValue', (client, bound) => client.send(command, bound), signal))
      .SecretString;
  }

  async put(input: PutSecretValueCommandInput, signal: AbortSignal) {
    return parseResponse(
      Written,
      await this.#call(
        'PutSecretValue',
        (client, bound) => client.send(new PutSecretValueCommand(input), bound),
        signal,
      ),
    );
  }

  async changeKey(SecretId: string, KmsKeyId: string, signal: AbortSignal): Promise<void> {
    await this.#call(
      'UpdateSecret',
      (client, bound) => client.send(new UpdateSecretCommand({ SecretId, KmsKeyId }), bound),
      signal,
    );
  }

  async restore(SecretId: string, signal: AbortSignal): Promise<void> {
    await this.#call(
      'RestoreSecret',
      (client, bound) => client.send(new RestoreSecretCommand({ SecretId }), bound),
      signal,
    );
  }

  async delete(input: DeleteSecretCommandInput, signal: AbortSignal): Promise<void> {
    await this.#call(
      'DeleteSecret',
      (client, bound) => client.send(new DeleteSecretCommand(input), bound),
      signal,
    );
  }

  async tag(SecretId: string, tags: Record<string, string>, signal: AbortSignal): Promise<void> {
    const command = new TagResourceCommand({ SecretId, Tags: tagList(tags) });
    await this.#call('TagResource', (client, bound) => client.send(command, bound), signal);
  }

  async untag(SecretId: string, TagKeys: string[], signal: AbortSignal): Promise<void> {
    await this.#call(
      'UntagResource',
      (client, bound) => client.send(new UntagResourceCommand({ SecretId, TagKeys }), bound),
      signal,
    );
  }

  async replicate(SecretId: string, regions: readonly string[], signal: AbortSignal) {
    const AddReplicaRegions = regions.map((Region) => ({ Region }));
    const command = new ReplicateSecretToRegionsCommand({ SecretId, AddReplicaRegions });
    return parseResponse(
      Replicated,
      await this.#call('ReplicateSecretToRegions', (client, bound) => client.send(command, bound), signal),
    );
  }

  async removeReplicas(SecretId: string, RemoveReplicaRegions: string[], signal: AbortSignal): Promise<void> {
    const command = new RemoveRegionsFromReplicationCommand({ SecretId, RemoveReplicaRegions });
    await this.#call('RemoveRegionsFromReplication', (client, bound) => client.send(command, bound), signal);
  }

  close(): void {
    this.#client.destroy();
  }

  /** A session that ended in mid-run is begun again, once. The sockets are the guard's and stay. */
  async #call<Answer>(
    operation: string,
    send: (client: SecretsManagerClient, bound: { abortSignal: AbortSignal }) => Promise<Answer>,
    signal: AbortSignal,
  ): Promise<Answer> {
    const once = () =>
      faulting(operation, () => abortable(send(this.#client, { abortSignal: signal }), signal));
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

/** Rejects when the signal aborts: the SDK ignores it while it fetches credentials. */
function abortable<Answer>(call: Promise<Answer>, signal: AbortSignal): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(Object.assign(new Error('aborted'), { name: 'AbortError' }));
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    call.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

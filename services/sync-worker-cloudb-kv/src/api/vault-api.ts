import { isDeepStrictEqual } from 'node:util';
import { isRestError } from '@azure/core-rest-pipeline';
import type { SecretClient } from '@azure/keyvault-secrets';
import { Fault } from '@secrets/domain';
import {
  abortable,
  hasCode,
  malformedResponse,
  networkFault,
  parseResponse,
  providerFault,
  repeatIfThrottled,
} from '@secrets/sync-worker';
import { z } from 'zod';
import { observingNextLink } from './next-link.ts';

// The SDK's view of a secret, with only the fields that are read.
const Properties = z.object({
  version: z.string().default(''),
  tags: z.record(z.string(), z.string()).default({}),
  /** Undefined also for an empty one, which an update can leave. */
  contentType: z
    .string()
    .transform((given) => given || undefined)
    .optional(),
  notBefore: z.date().optional(),
  expiresOn: z.date().optional(),
  createdOn: z.date().optional(),
  updatedOn: z.date().optional(),
  managed: z.boolean().default(false),
  enabled: z.boolean().default(true),
});
const VaultSecret = z.object({ value: z.string().optional(), properties: Properties });

const ListedProperties = Properties.extend({ name: z.string() });
const Page = z.object({
  secrets: z.array(ListedProperties),
  next: z.string().max(4_096).optional(),
});

/** A secret in the vault. Its value is in clear text; undefined if the secret is deleted. */
export type VaultSecret = z.infer<typeof VaultSecret>;

export type Properties = VaultSecret['properties'];

export type ListedProperties = z.infer<typeof ListedProperties>;

/**
 * Properties that a new version is written with. It inherits none of the previous one
 * (https://learn.microsoft.com/rest/api/keyvault/secrets/set-secret/set-secret).
 */
export type SecretProperties = Pick<Properties, 'tags'> & Partial<Pick<Properties, 'contentType' | Dates>>;

type Dates = 'notBefore' | 'expiresOn';

/** The calls to one vault. Each is aborted by the signal; its failures are `Fault`s. */
export class VaultApi {
  readonly #open: () => SecretClient;
  #client: SecretClient;

  /** @param open creates a client that has no token yet */
  constructor(open: () => SecretClient) {
    this.#open = open;
    this.#client = open();
  }

  /** Returns the newest version, or the given one; undefined only if the vault confirms that it does not exist. */
  async find(name: string, signal: AbortSignal, version?: string): Promise<VaultSecret | undefined> {
    const options = version === undefined ? {} : { version };
    const found = await ifExists(
      this.#call('Get', signal, (client, call) => client.getSecret(name, { ...options, ...call })),
    );
    return found && parseResponse('Get', VaultSecret, found);
  }

  /** Returns the deleted secret of this name; undefined if there is none, also while it is still being deleted. */
  async findDeleted(name: string, signal: AbortSignal): Promise<VaultSecret | undefined> {
    const found = await ifExists(
      this.#call('Get', signal, (client, call) => client.getDeletedSecret(name, call)),
    );
    return found && parseResponse('Get', VaultSecret, found);
  }

  /** Writes a new version and returns its ID. */
  async set(name: string, value: string, content: SecretProperties, signal: AbortSignal): Promise<string> {
    const { properties, value: stored } = await this.#call('Set', signal, (client, call) =>
      client.setSecret(name, value, { ...defined(content), ...call }),
    );
    const { version, enabled } = storedProperties(properties, content);
    if (stored !== value) throw new Fault('not_ready', 'Set: the vault has stored another value');
    if (!enabled) throw new Fault('not_ready', 'Set: the vault has stored the secret disabled');
    return version;
  }

  /**
   * Replaces all tags of a version and the properties that are given, and returns its ID. By default, that is the newest version,
   * whichever it is by now: unlike a read, a write shows the current state.
   */
  async update(name: string, content: SecretProperties, signal: AbortSignal, version = ''): Promise<string> {
    const properties = await this.#call('Set', signal, (client, call) =>
      client.updateSecretProperties(name, version, { ...defined(content), ...call }),
    );
    return storedProperties(properties, content).version;
  }

  /**
   * Returns the properties of the newest version, also if it is disabled, which a vault does not let anyone read: an update
   * that changes nothing shows them (https://learn.microsoft.com/rest/api/keyvault/secrets/update-secret/update-secret).
   */
  async propertiesOf(name: string, signal: AbortSignal): Promise<Properties | undefined> {
    const found = await ifExists(
      this.#call('Set', signal, (client, call) => client.updateSecretProperties(name, '', call)),
    );
    return found && parseResponse('Set', Properties, found);
  }

  /** Returns a page of at most 25 secrets, and where the next one begins. */
  list(after: string | undefined, signal: AbortSignal) {
    return this.#page(after, signal, (client, call) => client.listPropertiesOfSecrets(call));
  }

  /** Returns a page of the versions of a secret, also if they are disabled. It is empty if there is no such secret. */
  async listVersions(name: string, after: string | undefined, signal: AbortSignal) {
    const page = this.#page(after, signal, (client, call) =>
      client.listPropertiesOfSecretVersions(name, call),
    );
    return (await ifExists(page)) ?? { secrets: [], next: undefined };
  }

  async #page(after: string | undefined, signal: AbortSignal, list: List) {
    const settings = { maxPageSize: 25, ...(after !== undefined && { continuationToken: after }) };
    const { result, next } = await observingNextLink(() =>
      this.#call('List', signal, (client, call) => list(client, call).byPage(settings).next()),
    );
    // The next request, with its token, goes where the response says.
    if (next !== undefined && new URL(next).origin !== new URL(this.#client.vaultUrl).origin)
      throw malformedResponse('List');
    return parseResponse('List', Page, { secrets: result.value ?? [], next });
  }

  /** Begins a deletion; the vault takes a while to finish it. Succeeds if there is no such secret. */
  async delete(name: string, signal: AbortSignal): Promise<void> {
    await ifExists(this.#call('Delete', signal, (client, call) => client.beginDeleteSecret(name, call)));
  }

  /** Begins the recovery of a deleted secret; the vault takes a while to finish it. */
  async recover(name: string, signal: AbortSignal): Promise<void> {
    await ifExists(
      this.#call('Recover', signal, (client, call) => client.beginRecoverDeletedSecret(name, call)),
    );
  }

  async purge(name: string, signal: AbortSignal): Promise<void> {
    await this.#call('Purge', signal, (client, call) => client.purgeDeletedSecret(name, call));
  }

  /** If the token is refused, requests a new one and repeats the call once. */
  async #call<Response>(
    operation: string,
    signal: AbortSignal,
    send: (client: SecretClient, options: { abortSignal: AbortSignal }) => Promise<Response>,
  ): Promise<Response> {
    const client = this.#client;
    const timedOut = () => new Fault('unavailable', `${operation}: the call was aborted at its time limit`);
    // The SDK ignores the signal while it requests a token.
    const once = (on: SecretClient) =>
      repeatIfThrottled(signal, () =>
        abortable(send(on, { abortSignal: signal }), signal, timedOut).catch((error: unknown) => {
          throw faultOf(operation, error);
        }),
      );
    try {
      return await once(client);
    } catch (error) {
      if (!hasCode(error, 'Unauthorized')) throw error;
      if (this.#client === client) this.#client = this.#open();
      return once(this.#client);
    }
  }
}

type List = (
  client: SecretClient,
  options: { abortSignal: AbortSignal },
) => ReturnType<SecretClient['listPropertiesOfSecrets']>;

const defined = <Given extends object>(given: Given) =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Given]: Exclude<Given[Name], undefined>;
  };

/**
 * Returns what a write has left. The response shows what the vault has stored.
 * @throws {Fault} `not_ready` if that is not what was sent
 */
function storedProperties(response: unknown, { tags, ...sent }: SecretProperties): Properties {
  const stored = parseResponse('Set', Properties, response);
  const isTagged = Object.entries(tags).every(([key, value]) => stored.tags[key] === value);
  if (!isTagged) throw new Fault('not_ready', 'Set: the vault has stored the secret without its tags');
  const isSame = Object.entries(defined(sent)).every(([name, value]) =>
    isDeepStrictEqual(stored[name as keyof typeof sent], value),
  );
  if (!isSame)
    throw new Fault('not_ready', 'Set: the vault has stored the secret with another content type or date');
  return stored;
}

/** The SDK's pollers look at a secret after each call. While it is in a transition, the vault does not find it. */
async function ifExists<Response>(call: Promise<Response>): Promise<Response | undefined> {
  try {
    return await call;
  } catch (error) {
    if (hasCode(error, 'SecretNotFound')) return undefined;
    throw error;
  }
}

/** The HTTP client throws faults already. Anything else is the SDK's own, or a bug, which is thrown as it is. */
function faultOf(operation: string, error: unknown): unknown {
  if (error instanceof Fault || !(error instanceof Error)) return error;
  const status = isRestError(error) ? error.statusCode : undefined;
  const fault = status === undefined ? undefined : providerFault(operation, { status }, new Map());
  return fault ?? networkFault(operation, error) ?? error;
}

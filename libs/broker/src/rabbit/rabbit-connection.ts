import { EventEmitter, once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { errorCode, Problem } from '@secrets/domain';
import type { ChannelModel } from 'amqplib';
import pTimeout from 'p-timeout';
import type { BrokerLog } from '../broker.ts';
import { backoffMs, sleepUntilAborted } from '../waiting/pause.ts';

export interface RabbitConnectionOptions {
  url: string;
  /** What the connection is for. RabbitMQ's management UI and the log show it. */
  purpose: string;
  connectTimeoutMs: number;
  log: BrokerLog;
}

const reconnectPause = { firstMs: 100, maxMs: 5_000 };
const heartbeatSeconds = '15';
const closeTimeoutMs = 2_000;

/** One connection to RabbitMQ, reopened whenever it is lost. */
export class RabbitConnection {
  readonly #options: RabbitConnectionOptions;
  readonly #url: string;
  readonly #changes = new EventEmitter().setMaxListeners(0);
  readonly #closing = new AbortController();
  readonly #ended: Promise<void>;
  #connection: ChannelModel | undefined;
  #isBlocked = false;
  #isSilent = false;

  constructor(options: RabbitConnectionOptions) {
    this.#options = options;
    this.#url = withHeartbeat(options.url);
    this.#ended = this.#stayConnected();
  }

  isConnected(): boolean {
    return this.#connection !== undefined;
  }

  /** Resolves with the connection once it is open. Rejects when the signal aborts or the link is closed. */
  async connection(signal: AbortSignal): Promise<ChannelModel> {
    while (this.#connection === undefined) await this.#change(signal);
    return this.#connection;
  }

  /** Resolves when RabbitMQ accepts messages. During an alarm (memory, disk) it blocks publishers. */
  async unblocked(signal: AbortSignal): Promise<void> {
    while (this.#isBlocked) await this.#change(signal);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    for (const step of [this.#connection?.close(), this.#ended]) {
      if (step === undefined) continue;
      await pTimeout(step, { milliseconds: closeTimeoutMs }).catch(() => undefined); // the connection may be lost
    }
  }

  /** Logs that the server does not answer, although it is connected: once until it has answered, whoever has waited. */
  noteSilence(): void {
    const { log, purpose } = this.#options;
    if (!this.#isSilent) log.warn({ purpose }, 'the broker does not answer; retrying');
    this.#isSilent = true;
  }

  noteAnswer(): void {
    this.#isSilent = false;
  }

  async #change(signal: AbortSignal): Promise<void> {
    await once(this.#changes, 'change', { signal: AbortSignal.any([signal, this.#closing.signal]) });
  }

  async #stayConnected(): Promise<void> {
    const { log, purpose } = this.#options;
    const closing = this.#closing.signal;
    let failures = 0;
    while (!closing.aborted) {
      try {
        const connection = await this.#connect();
        log.info({ purpose }, 'broker connected');
        failures = 0;
        await this.#hold(connection);
        if (!closing.aborted) log.warn({ purpose }, 'broker connection lost');
      } catch (error) {
        if (failures === 0) log.warn({ purpose, reason: reasonOf(error) }, 'broker unreachable; retrying');
        failures += 1;
      }
      await sleepUntilAborted(backoffMs(failures, reconnectPause), closing);
    }
  }

  async #connect(): Promise<ChannelModel> {
    const { connectTimeoutMs, purpose } = this.#options;
    const authority = await authorityIn(this.#url);
    // The standalone service never connects. A bundle in several files has no other exports of a CommonJS package.
    const { default: amqp } = await import('amqplib');
    return await amqp.connect(this.#url, {
      ...authority,
      timeout: connectTimeoutMs, // silence, until the connection is open
      noDelay: true,
      keepAlive: true,
      clientProperties: { connection_name: purpose },
    });
  }

  /** Resolves when the connection is closed. */
  async #hold(connection: ChannelModel): Promise<void> {
    const { log, purpose } = this.#options;
    const closed = new Promise<void>((resolve) => connection.once('close', () => resolve()));
    connection.on('error', (error) =>
      log.warn({ purpose, reason: reasonOf(error) }, 'broker connection failed'),
    );
    connection.on('blocked', () => {
      log.warn({ purpose }, 'broker blocks publishers because of an alarm');
      this.#set(connection, true);
    });
    connection.on('unblocked', () => {
      log.info({ purpose }, 'broker accepts messages again');
      this.#set(connection, false);
    });
    this.#set(connection, false);
    if (this.#closing.signal.aborted) void connection.close().catch(() => undefined);
    await closed;
    this.#set(undefined, false);
  }

  #set(connection: ChannelModel | undefined, isBlocked: boolean): void {
    this.#connection = connection;
    this.#isBlocked = isBlocked;
    this.#changes.emit('change');
  }
}

function withHeartbeat(url: string): string {
  if (!URL.canParse(url) || !/^amqps?:$/.test(new URL(url).protocol)) {
    throw new Problem('invalid', 'the address of the broker must be an amqp:// or amqps:// URL');
  }
  const address = new URL(url);
  if (!address.searchParams.has('heartbeat')) address.searchParams.set('heartbeat', heartbeatSeconds);
  return address.toString();
}

/**
 * The certificates of the authority that `cacertfile` names, read again for each connection
 * (https://www.rabbitmq.com/docs/uri-query-parameters). The name of the server is always verified.
 */
async function authorityIn(url: string): Promise<{ ca?: Buffer }> {
  const file = new URL(url).searchParams.get('cacertfile');
  return file === null ? {} : { ca: await readFile(file) };
}

/** A short reason why a connection failed. amqplib's messages contain no credentials. */
export const reasonOf = (error: unknown): string =>
  errorCode(error) ?? String((Object(error) as { message?: unknown }).message ?? 'unknown').slice(0, 200);

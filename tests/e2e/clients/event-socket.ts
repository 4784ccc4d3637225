import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import type { Socket } from 'node:net';
import { eventually } from '../../harness/eventually.ts';

/** Options for listening. */
interface Listening {
  token: string;
  type?: string;
  query?: string;
  headers?: Record<string, string>;
}

// biome-ignore lint/suspicious/noExplicitAny: a test reads any field of an event
export type SecretEvent = any;

/** A WebSocket of which a test controls every byte that it sends. */
export class EventSocketClient {
  /** The status of the response to the handshake. */
  readonly status: number;
  /** The body of a refusal. */
  readonly body: string;
  /** The events so far. */
  readonly events: SecretEvent[] = [];
  /** All that was received, without the frames. */
  text = '';
  closeCode: number | undefined;
  hasEnded = false;
  pings = 0;
  pongs = 0;
  readonly socket: Socket | undefined;
  #rest = Buffer.alloc(0);

  private constructor(status: number, body: string, socket: Socket | undefined) {
    this.status = status;
    this.body = body;
    this.socket = socket;
    socket?.on('error', () => undefined);
    socket?.on('close', () => {
      this.hasEnded = true;
    });
  }

  /** Resolves when the handshake has a response. */
  static async open(
    url: string,
    { token, type = 'kv*', query = '?json=true', headers = {} }: Listening,
    { reads = true } = {},
  ): Promise<EventSocketClient> {
    const sent = request(`${url}/v1/sys/events/subscribe/${type}${query}`, {
      agent: false,
      headers: {
        ...{ connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' },
        'sec-websocket-key': randomBytes(16).toString('base64'),
        'x-vault-token': token,
        ...headers,
      },
    });
    sent.end();
    return new Promise((resolve, reject) => {
      sent.once('error', reject);
      sent.once('upgrade', (response, socket: Socket, head) => {
        const client = new EventSocketClient(response.statusCode ?? 0, '', socket);
        client.#receive(head);
        if (reads) client.read();
        resolve(client);
      });
      sent.once('response', async (response) => {
        const body = (await response.toArray()).join('');
        resolve(new EventSocketClient(response.statusCode ?? 0, body, undefined));
      });
    });
  }

  read(): void {
    this.socket?.on('data', (chunk: Buffer) => this.#receive(chunk));
  }

  /** Sends a frame, masked by zeros unless it is to be unmasked. */
  send(opcode: number, payload: Buffer, { final = true, masked = true } = {}): void {
    const { length } = payload;
    const head = Buffer.from([(final ? 0x80 : 0) | opcode]);
    const mark = masked ? 0x80 : 0;
    const size =
      length < 126 ? Buffer.from([mark | length]) : Buffer.from([mark | 126, length >> 8, length & 255]);
    this.socket?.write(Buffer.concat([head, size, Buffer.alloc(masked ? 4 : 0), payload]));
  }

  /** Resolves when this client receives an event that is accepted; returns that. */
  async received(isWanted: (event: SecretEvent) => boolean): Promise<SecretEvent> {
    return eventually(
      async () => this.events.find(isWanted),
      (found) => found !== undefined,
    );
  }

  /** Resolves when the connection has ended. */
  async untilEnded(): Promise<void> {
    await eventually(
      async () => this.hasEnded,
      (hasEnded) => hasEnded,
    );
  }

  close(): void {
    this.socket?.destroy();
  }

  #receive(chunk: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    for (let size = this.#frame(); size > 0; size = this.#frame()) this.#rest = this.#rest.subarray(size);
  }

  /** Handles the first frame, and returns its size; 0 if it is not complete. */
  #frame(): number {
    const [first = 0, short = 0] = this.#rest;
    const begin = short === 126 ? 4 : short === 127 ? 10 : 2;
    if (this.#rest.length < begin) return 0;
    const length =
      short === 126 ? this.#rest.readUInt16BE(2) : short === 127 ? this.#rest.readUInt32BE(6) : short;
    if (this.#rest.length < begin + length) return 0;
    this.#handle(first & 15, this.#rest.subarray(begin, begin + length));
    return begin + length;
  }

  #handle(opcode: number, payload: Buffer): void {
    this.text += payload.toString();
    if (opcode === 1) this.events.push(JSON.parse(payload.toString()));
    if (opcode === 8) this.closeCode = payload.readUInt16BE(0);
    if (opcode === 9) this.pings += 1;
    if (opcode === 10) this.pongs += 1;
  }
}

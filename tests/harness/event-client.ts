import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { eventually } from './eventually.ts';

/** An event that was received. */
export interface ReceivedEvent {
  id: string;
  kind: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads any field of an event
  [field: string]: any;
}

/** Options for following events. */
interface Following {
  token: string;
  /** The namespace of the request. */
  namespace?: string;
  /** The query, with `?`. */
  query?: string;
  /** The header `Last-Event-ID`. */
  lastEventId?: string;
}

/** A client that follows events. */
export class EventClient {
  readonly status: number;
  /** The events so far. */
  readonly events: ReceivedEvent[] = [];
  /** All that was received. */
  text = '';
  /** The ID with which to resume. */
  lastId = '';
  hasEnded = false;
  readonly response: IncomingMessage;
  readonly #request: ClientRequest;
  #rest = '';

  private constructor(sent: ClientRequest, response: IncomingMessage) {
    this.#request = sent;
    this.response = response;
    this.status = response.statusCode ?? 0;
    response.on('error', () => undefined);
    response.on('close', () => {
      this.hasEnded = true;
    });
  }

  /** Resolves when the response has begun. */
  static async open(url: string, following: Following, { reads = true } = {}): Promise<EventClient> {
    const { token, namespace, query = '', lastEventId } = following;
    const headers = {
      'x-service-token': token,
      ...(namespace === undefined ? {} : { 'x-service-namespace': namespace }),
      ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
    };
    const sent = request(`${url}/v1/sys/sync/events${query}`, { headers, agent: false });
    sent.end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    sent.on('error', () => undefined);
    const client = new EventClient(sent, response);
    if (reads) client.read();
    return client;
  }

  /** The ID of the request, which the audit log contains, too. */
  get requestId(): string {
    return String(this.response.headers['x-request-id']);
  }

  read(): void {
    this.response.on('data', (chunk: Buffer) => this.#receive(chunk.toString()));
  }

  /** Resolves when this client receives events of which `isWanted` accepts one; returns that. */
  async received(isWanted: (event: ReceivedEvent) => boolean): Promise<ReceivedEvent> {
    const look = async () => this.events.find(isWanted);
    return (await eventually(look, (found) => found !== undefined))!;
  }

  /** Resolves when the server has ended the stream. */
  async untilEnded(): Promise<void> {
    await eventually(
      async () => this.hasEnded,
      (hasEnded) => hasEnded,
    );
  }

  close(): void {
    this.#request.destroy();
  }

  #receive(chunk: string): void {
    this.text += chunk;
    const frames = (this.#rest + chunk).split('\n\n');
    this.#rest = frames.pop() ?? '';
    for (const frame of frames) {
      this.lastId = /^id: (.*)$/m.exec(frame)?.[1] ?? this.lastId;
      const data = /^data: (.*)$/m.exec(frame)?.[1];
      if (data !== undefined) this.events.push(JSON.parse(data));
    }
  }
}

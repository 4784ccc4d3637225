import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';

/** A span as a service has exported it. */
export interface ReceivedSpan {
  service: string;
  traceId: string;
  spanId: string;
  /** Empty for the first span of a trace. */
  parentId: string;
  name: string;
  attributes: Record<string, string>;
  isFailed: boolean;
}

/** A collector that understands OTLP over HTTP with protobuf, as far as the test needs it. */
export interface OtlpReceiver {
  url: string;
  spans: ReceivedSpan[];
  /** Everything received, as it was sent. */
  raw(): string;
  /** From now on, accepts spans without keeping them. */
  ignore(): void;
  stop(): Promise<void>;
}

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const bodies: Buffer[] = [];
  let isKeeping = true;
  const server = createServer(async (request, response) => {
    const body = await bodyOf(request);
    const isExport =
      request.url === '/v1/traces' && request.headers['content-type'] === 'application/x-protobuf';
    if (isExport && isKeeping) {
      bodies.push(body);
      spans.push(...spansIn(body));
    }
    response.writeHead(isExport ? 200 : 415, { 'content-type': 'application/x-protobuf' }).end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    raw: () => Buffer.concat(bodies).toString('latin1'),
    ignore: () => {
      isKeeping = false;
    },
    stop: async () => {
      server.closeAllConnections();
      await once(server.close(), 'close');
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  return request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body;
}

/** https://github.com/open-telemetry/opentelemetry-proto/blob/main/opentelemetry/proto/trace/v1/trace.proto */
const spansIn = (body: Buffer): ReceivedSpan[] =>
  messages(body, 1).flatMap((ofResource) => {
    const attributes = messages(ofResource, 1).map((resource) => attributesIn(resource, 1));
    const service = attributes[0]?.['service.name'] ?? '';
    const ofScopes = messages(ofResource, 2);
    return ofScopes.flatMap((scope) => messages(scope, 2)).map((span) => spanIn(span, service));
  });

const spanIn = (span: Buffer, service: string): ReceivedSpan => {
  const hex = (field: number) => messages(span, field)[0]?.toString('hex') ?? '';
  const status = messages(span, 15)[0];
  return {
    service,
    traceId: hex(1),
    spanId: hex(2),
    parentId: hex(4),
    name: messages(span, 5)[0]?.toString() ?? '',
    attributes: attributesIn(span, 9),
    isFailed: status !== undefined && fields(status).some(({ field, value }) => field === 3 && value === 2),
  };
};

const attributesIn = (message: Buffer, field: number): Record<string, string> =>
  Object.fromEntries(
    messages(message, field).map((pair) => [
      messages(pair, 1)[0]?.toString() ?? '',
      anyValue(messages(pair, 2)[0] ?? Buffer.alloc(0)),
    ]),
  );

const anyValue = (value: Buffer): string => String(fields(value)[0]?.value ?? '');

const messages = (message: Buffer, field: number): Buffer[] =>
  fields(message).flatMap((one) => (one.field === field && Buffer.isBuffer(one.value) ? [one.value] : []));

interface Field {
  field: number;
  value: number | Buffer;
}

/** Splits a message into its fields: https://protobuf.dev/programming-guides/encoding/ */
function fields(message: Buffer): Field[] {
  const found: Field[] = [];
  let at = 0;
  const varint = () => {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = message[at++]!;
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  };
  const bytes = (length: number) => {
    at += length;
    return message.subarray(at - length, at);
  };
  const sizes: Readonly<Record<number, number>> = { 1: 8, 5: 4 };
  while (at < message.length) {
    const tag = varint();
    const type = tag % 8;
    const value = type === 0 ? varint() : bytes(type === 2 ? varint() : sizes[type]!);
    found.push({ field: Math.floor(tag / 8), value });
  }
  return found;
}

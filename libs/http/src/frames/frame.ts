/** One message of a connection that carries many requests at once. */
export interface Frame {
  /** Pairs a response with its request; 0 in frames about the connection itself. */
  id: number;
  /** A JSON object. */
  head: Buffer;
  body: Buffer;
  /** Everything that a signature covers. */
  signed: Buffer;
  /** Of the length that the reader expects. */
  signature: Buffer;
}

// Layout: the length of what follows, the ID and the length of the head, each of 4 bytes, big-endian; the head, the body, and
// the signature if frames of this direction have one.
const lengthBytes = 4;
const idAndHeadLengthBytes = 8;

/** Requests and responses whose body is larger are sent over HTTP, which passes them on piece by piece. */
export const maxFrameBody = 262_144;
const maxHead = 131_072;

/** Longest frame of a request. */
export const maxRequestFrame = idAndHeadLengthBytes + maxHead + maxFrameBody + 64;
/** Longest frame of a response: one to a request that changes something cannot be sent again over HTTP. */
export const maxResponseFrame = 67_108_864;

/** Whether a frame can carry this head. */
export const fitsHead = (head: string): boolean => Buffer.byteLength(head) <= maxHead;

/**
 * Encodes a frame.
 * @param sign returns the signature of the bytes that it covers; without it, the frame has none
 */
export function encodeFrame(
  id: number,
  head: string,
  body: Buffer,
  sign?: (signed: Buffer) => Buffer,
): Buffer {
  const headLength = Buffer.byteLength(head);
  const length = idAndHeadLengthBytes + headLength + body.length;
  const bytes = Buffer.allocUnsafe(lengthBytes + length);
  bytes.writeUInt32BE(id, lengthBytes);
  bytes.writeUInt32BE(headLength, lengthBytes + 4);
  bytes.write(head, lengthBytes + idAndHeadLengthBytes, 'utf8');
  body.copy(bytes, lengthBytes + idAndHeadLengthBytes + headLength);
  const signature = sign?.(bytes.subarray(lengthBytes));
  bytes.writeUInt32BE(length + (signature?.length ?? 0), 0);
  return signature === undefined ? bytes : Buffer.concat([bytes, signature]);
}

/** Cuts what arrives on a connection into frames. */
export class FrameReader {
  readonly #signatureBytes: number;
  readonly #maxBytes: number;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #needed = lengthBytes;

  constructor({ signatureBytes, maxBytes }: { signatureBytes: number; maxBytes: number }) {
    this.#signatureBytes = signatureBytes;
    this.#maxBytes = maxBytes;
  }

  /** Returns the frames that are complete with this chunk. Throws an error for what is not a frame. */
  push(chunk: Buffer): Frame[] {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes < this.#needed) return [];
    let rest = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks);
    const frames: Frame[] = [];
    this.#needed = lengthBytes;
    while (rest.length >= lengthBytes) {
      const length = rest.readUInt32BE(0);
      if (length > this.#maxBytes || length < idAndHeadLengthBytes + this.#signatureBytes)
        throw new Error(`a frame has ${length} bytes`);
      this.#needed = lengthBytes + length;
      if (rest.length < this.#needed) break;
      frames.push(this.#decode(rest.subarray(lengthBytes, this.#needed)));
      rest = rest.subarray(this.#needed);
      this.#needed = lengthBytes;
    }
    this.#chunks = rest.length === 0 ? [] : [rest];
    this.#bytes = rest.length;
    return frames;
  }

  #decode(bytes: Buffer): Frame {
    const end = bytes.length - this.#signatureBytes;
    const bodyAt = idAndHeadLengthBytes + bytes.readUInt32BE(4);
    if (bodyAt > end) throw new Error('the head of a frame is longer than the frame');
    return {
      id: bytes.readUInt32BE(0),
      head: bytes.subarray(idAndHeadLengthBytes, bodyAt),
      body: bytes.subarray(bodyAt, end),
      signed: bytes.subarray(0, end),
      signature: bytes.subarray(end),
    };
  }
}

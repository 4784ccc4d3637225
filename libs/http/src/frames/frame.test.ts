import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { encodeFrame, type Frame, FrameReader } from './frame.ts';

const read = (reader: FrameReader, chunks: readonly Buffer[]): Frame[] =>
  chunks.flatMap((chunk) => reader.push(chunk));

/** Cuts bytes at these places. */
function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const at = [0, ...places.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return at.slice(1).map((end, index) => bytes.subarray(at[index], end));
}

const frames = fc.array(
  fc.record({
    id: fc.integer({ min: 0, max: 0xffff_ffff }),
    head: fc.string(),
    body: fc.uint8Array({ maxLength: 300 }),
  }),
  { maxLength: 8 },
);
const signature = Buffer.alloc(32, 7);

test.each([0, 32])(
  'frames survive any division into chunks, with signatures of %d bytes',
  (signatureBytes) => {
    fc.assert(
      fc.property(frames, fc.array(fc.nat()), (sent, places) => {
        const sign = signatureBytes === 0 ? undefined : () => signature;
        const bytes = Buffer.concat(
          sent.map(({ id, head, body }) => encodeFrame(id, head, Buffer.from(body), sign)),
        );
        const reader = new FrameReader({ signatureBytes, maxBytes: 10_000 });
        const received = read(reader, cut(bytes, places));
        expect(
          received.map(({ id, head, body }) => ({ id, head: head.toString(), body: [...body] })),
        ).toEqual(
          sent.map(({ id, head, body }) => ({ id, head: Buffer.from(head).toString(), body: [...body] })),
        );
        for (const frame of received) expect(frame.signature).toHaveLength(signatureBytes);
      }),
    );
  },
);

test('a signature covers the ID, the head and the body', () => {
  const covered: Buffer[] = [];
  const bytes = encodeFrame(3, '{"a":1}', Buffer.from('body'), (signed) => {
    covered.push(Buffer.from(signed));
    return signature;
  });
  const [frame] = new FrameReader({ signatureBytes: 32, maxBytes: 1_000 }).push(bytes);
  expect(frame!.signed).toEqual(covered[0]);
  expect(frame!.signed).toHaveLength(8 + 7 + 4);
});

describe('what is not a frame is refused', () => {
  const reader = () => new FrameReader({ signatureBytes: 32, maxBytes: 1_000 });
  const withLength = (length: number) => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(length);
    return bytes;
  };

  test.each([0, 39, 1_001, 0xffff_ffff])('with a length of %d, before more is read', (length) => {
    expect(() => reader().push(withLength(length))).toThrow(`a frame has ${length} bytes`);
  });

  test('with a head that is longer than the frame', () => {
    const bytes = encodeFrame(1, '{}', Buffer.alloc(0), () => signature);
    bytes.writeUInt32BE(3, 8);
    expect(() => reader().push(bytes)).toThrow('the head of a frame is longer');
  });
});

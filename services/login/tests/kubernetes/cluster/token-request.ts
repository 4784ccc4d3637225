/** The properties of a token that a client requests. */
export interface TokenRequestSpec {
  audiences?: string[];
  expirationSeconds?: number;
}

/**
 * The first bytes of a body that is encoded with protocol buffers, as clients in Go do:
 * https://kubernetes.io/docs/reference/using-api/api-concepts
 */
const magic = Buffer.from('k8s\0');

/** Reads the body of a request for a token, in either form. */
export function tokenRequestIn(body: Buffer): TokenRequestSpec {
  if (!body.subarray(0, 4).equals(magic))
    return (JSON.parse(body.toString()) as { spec: TokenRequestSpec }).spec;
  const [raw] = fieldsIn(body.subarray(4)).get(2)!; // Unknown.raw
  const spec = fieldsIn(fieldsIn(raw as Buffer).get(2)![0] as Buffer); // TokenRequest.spec
  const audiences = (spec.get(1) ?? []).map(String);
  const [seconds] = spec.get(4) ?? [];
  return {
    ...(audiences.length === 0 ? {} : { audiences }),
    ...(seconds === undefined ? {} : { expirationSeconds: Number(seconds) }),
  };
}

/** The values of each field of a message: numbers, and bytes. */
function fieldsIn(message: Buffer): Map<number, (number | Buffer)[]> {
  const found = new Map<number, (number | Buffer)[]>();
  let at = 0;
  const varint = () => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = message[at++]!;
      value += (byte % 128) * scale;
      if (byte < 128) return value;
    }
  };
  const bytes = () => {
    const length = varint();
    at += length;
    return message.subarray(at - length, at);
  };
  while (at < message.length) {
    const tag = varint();
    const number = Math.floor(tag / 8);
    const value = tag % 8 === 2 ? bytes() : varint();
    found.set(number, [...(found.get(number) ?? []), value]);
  }
  return found;
}

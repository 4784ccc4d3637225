import { checkPrimeSync, createHash, createPrivateKey, type JsonWebKey, type KeyObject } from 'node:crypto';

const PRIME_BYTES = 128;
const EXPONENT = 65_537n;

/** Derives a 2,048-bit RSA key from a seed. The result is deterministic, which the runtime's own generator is not. */
export function rsaKeyFromSeed(seed: string): KeyObject {
  const [p, q] = [primeFrom(`${seed} p`), primeFrom(`${seed} q`)];
  const d = inverse(EXPONENT, (p - 1n) * (q - 1n));
  const key: JsonWebKey = {
    kty: 'RSA',
    n: base64url(p * q),
    e: base64url(EXPONENT),
    d: base64url(d),
    p: base64url(p),
    q: base64url(q),
    dp: base64url(d % (p - 1n)),
    dq: base64url(d % (q - 1n)),
    qi: base64url(inverse(q, p)),
  };
  return createPrivateKey({ key, format: 'jwk' });
}

/** The first suitable prime after a number that is derived from the seed. Its two highest bits are set, as RSA requires. */
function primeFrom(seed: string): bigint {
  const bytes = Buffer.concat([0, 1].map((part) => createHash('sha512').update(`${seed} ${part}`).digest()));
  const start = BigInt(`0x${bytes.subarray(0, PRIME_BYTES).toString('hex')}`);
  const highest = 3n << BigInt(PRIME_BYTES * 8 - 2);
  for (let candidate = start | highest | 1n; ; candidate += 2n)
    if (candidate % EXPONENT !== 1n && checkPrimeSync(candidate)) return candidate;
}

/** The modular inverse, by the extended Euclidean algorithm. */
function inverse(number: bigint, modulus: bigint): bigint {
  let [remainder, next] = [modulus, number % modulus];
  let [coefficient, nextCoefficient] = [0n, 1n];
  while (next !== 0n) {
    const quotient = remainder / next;
    [remainder, next] = [next, remainder - quotient * next];
    [coefficient, nextCoefficient] = [nextCoefficient, coefficient - quotient * nextCoefficient];
  }
  return ((coefficient % modulus) + modulus) % modulus;
}

function base64url(number: bigint): string {
  const hex = number.toString(16);
  return Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex').toString('base64url');
}

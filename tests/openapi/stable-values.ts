/** When every recorded example seems to have begun. */
const begin = Date.parse('2026-01-02T03:04:05.678Z');
const hourMs = 3_600_000;

/** The time of a value, to the hour, so that it does not depend on how long the requests before it took. */
const stableTime = (time: number, startedAt: number): Date =>
  new Date(begin + Math.round((time - startedAt) / hourMs) * hourMs);

const timestamp = /\b2\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/g;
const unixTime = /(?<=[:[,])(?:1[789]|2\d)\d{8}(?=[\]},])/g;
const unixMilliseconds = /(?<=[:[,])(?:1[789]|2\d)\d{11}(?=[\]},])/g;
const identifier =
  /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|(?<=\b(?:kv|auth_\w+)_)[0-9a-f]{8}\b|(?<=")[0-9a-f]{16}(?=")|(?<=")(?=[^"]*[a-z])(?=[^"]*[A-Z])[\w-]{24}(?=")/g;

/** Random text without a meaning for a reader, and what is recorded in its place. */
const constants: [RegExp, string][] = [
  [/(?<=hmac-sha256:)[0-9a-f]{64}/g, '5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8'],
  [/(?<=SHA256:)[\w+/]{43}=/g, '47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='],
  [/(?<=")[\w-]{43,}(?=")/g, '…'],
  [/(?<=[?&](?:state|nonce|code_challenge)=)[\w-]+/g, '…'],
  [/(?<=127\.0\.0\.1:)\d+/g, '8300'],
  [/(?<=")\/[^"]*\/audit\.log/g, '/var/log/secrets/audit.log'],
];

/**
 * Replaces what differs between two recordings: IDs by their order in the example, times by those of a recording that began
 * at a fixed time, and random text by constants.
 * @param startedAt when the recording began, in milliseconds
 */
export function stable<Value>(value: Value, startedAt: number): Value {
  const numbers = new Map<string, string>();
  const numbered = (id: string): string => {
    const number = numbers.get(id) ?? String(numbers.size + 1);
    numbers.set(id, number);
    if (id.includes('-') && id.length === 36) return `a1b2c3d4-0000-4000-8000-${number.padStart(12, '0')}`;
    if (id.length === 16) return number.padStart(16, '0');
    return id.length === 24 ? `Accessor${number.padStart(16, '0')}` : number.padStart(8, '0');
  };
  const text = JSON.stringify(value)
    .replace(timestamp, (given, fraction = '', zone = '') => {
      const [seconds = ''] = stableTime(Date.parse(given), startedAt).toISOString().split('.');
      return `${seconds}${fraction.replace(/\d/g, '0')}${zone}`;
    })
    .replace(unixTime, (given) =>
      String(Math.floor(stableTime(Number(given) * 1_000, startedAt).getTime() / 1_000)),
    )
    .replace(unixMilliseconds, (given) => String(stableTime(Number(given), startedAt).getTime()))
    .replace(identifier, numbered);
  return JSON.parse(constants.reduce((known, [pattern, constant]) => known.replace(pattern, constant), text));
}

/**
 * Nanoseconds in each unit of a duration: those of Go programs (https://pkg.go.dev/time#ParseDuration), with days and weeks.
 * Either letter for "micro" is accepted, as Go does.
 */
const units: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  '\u00b5s': 1_000n,
  '\u03bcs': 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
  d: 86_400_000_000_000n,
  w: 604_800_000_000_000n,
};
const unit = 'ns|[u\u00b5\u03bc]s|ms|[smhdw]';
const duration = new RegExp(`^[+-]?(?:(?:\\d+(?:\\.\\d*)?|\\.\\d+)(?:${unit}))+$`);
const parts = new RegExp(`(\\d*)(?:\\.(\\d*))?(${unit})`, 'g');

/** More than any program writes: a part of nine digits for each unit. */
const maxCharacters = 100;

/**
 * Parses a duration such as `1h30m`, or a number of seconds, into whole seconds. Fractions are dropped, but what is below a
 * second becomes one, because 0 often means "no limit". Undefined if the text is not a duration, or a negative one.
 */
export function wholeSeconds(text: string): number | undefined {
  const given = /^[+-]?\d+(?:\.\d+)?$/.test(text) ? `${text}s` : text;
  if (given.length > maxCharacters || !duration.test(given)) return undefined;
  const nanoseconds = [...given.matchAll(parts)].reduce((sum, part) => sum + nanosecondsIn(part), 0n);
  if (nanoseconds === 0n) return 0;
  if (given.startsWith('-')) return undefined;
  return Math.max(1, Number(nanoseconds / units.s!));
}

function nanosecondsIn([, whole, fraction = '', unit = 's']: RegExpMatchArray): bigint {
  const size = units[unit]!;
  return BigInt(whole || '0') * size + (BigInt(fraction || '0') * size) / 10n ** BigInt(fraction.length);
}

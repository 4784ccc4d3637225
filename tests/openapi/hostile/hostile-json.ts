import fc from 'fast-check';

const list = (items: readonly string[]): string => `[${items.join(',')}]`;
const object = (fields: readonly string[]): string => `{${fields.join(',')}}`;
const times = (count: number, textAt: (at: number) => string): string[] =>
  Array.from({ length: count }, (_, at) => textAt(at));

/** More than any body may have. */
const maxLength = 2_000_000;
/** A leaf as often as is drawn, unless the text becomes too long. */
const repeated = ([count, leaf]: [number, string], textAt: (leaf: string, at: number) => string): string[] =>
  times(Math.min(count, Math.ceil(maxLength / (leaf.length + 1))), (at) => textAt(leaf, at));

/** Mostly small counts, and now and then those around a limit or far beyond it. */
const counts = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 1, max: 40 }) },
  { weight: 2, arbitrary: fc.constantFrom(99, 100, 101, 256, 257, 999, 1_000, 1_001, 4_990, 5_000) },
  { weight: 1, arbitrary: fc.constantFrom(12_000, 80_000) },
);

/** Valid and invalid notations. */
const numbers = fc.oneof(
  fc.constantFrom(
    ...['-0', '1.0', '1e400', '-1e400', '1e-400', '1E+2', '9007199254740993', '0.1000000000000000055511'],
    ...['01', '+1', '.5', '1.', '0x10', '1_000', 'NaN', 'Infinity', '-', '1e', '--1', '1e99999999999'],
    ...[`${'9'.repeat(5_000)}`, `0.${'0'.repeat(5_000)}1`, `1e-${'9'.repeat(300)}`],
  ),
  fc.bigInt().map(String),
);

const strings = fc.oneof(
  fc.constantFrom(
    ...['"\\ud800"', '"\\udc00\\ud800"', '"\\u0000"', '"\\u0000a"', '"\u0000"', '"\\x41"', '"\\u12"'],
    ...['"\\/\\b\\f"', '"a\nb"', '"\u2028\u202e"', '"e\u0301\u00e9"', '"\\ufeff"', '"', '"\\"', "'a'"],
    ...['"../.."', '"%2e%2e%2f"', '"a/../b"', '"+"', '"*"', '"{{identity.entity.id}}"'],
  ),
  fc
    .tuple(fc.constantFrom('x', '\\n', '\\u0000', 'a,', '{{', '+/', '\\ud83d\\ude00', ' '), counts)
    .map(([part, count]) => `"${part.repeat(count)}"`),
  fc.string({ unit: 'binary', maxLength: 30 }).map((text) => JSON.stringify(text)),
);

const prototypeNames = [
  ...['__proto__', 'constructor', 'prototype', 'toString', 'valueOf', 'hasOwnProperty', 'toJSON', 'then'],
  ...['length', 'isExactNumber', '__defineGetter__', ''],
];

const leaves = fc.oneof(
  numbers,
  strings,
  fc.constantFrom('null', 'true', 'nul', 'undefined', '[]', '{}', ''),
);

const deep = fc
  .tuple(
    fc.constantFrom(1, 3, 4, 5, 31, 32, 33, 99, 100, 101, 3_000, 65_000),
    fc.constantFrom(['[', ']'] as const, ['{"a":', '}'] as const, ['[{"a":', '}]'] as const),
    leaves,
    fc.boolean(),
  )
  .map(([levels, [open, close], inside, isClosed]) =>
    isClosed ? open.repeat(levels) + inside + close.repeat(levels) : open.repeat(levels),
  );

/** Each one is a JSON text, or nearly one, that is odd by its depth, width, numbers, strings, names or repetitions. */
export const hostileJson: fc.Arbitrary<string> = fc.oneof(
  leaves,
  deep,
  fc.tuple(counts, leaves).map((drawn) => list(repeated(drawn, (leaf) => leaf))),
  fc.tuple(counts, leaves).map((drawn) => object(repeated(drawn, (leaf, at) => `"k${at}":${leaf}`))),
  fc.tuple(counts, leaves).map((drawn) => object(repeated(drawn, (leaf) => `"same":${leaf}`))),
  fc
    .array(fc.tuple(fc.constantFrom(...prototypeNames), leaves), { maxLength: 12 })
    .map((fields) => object(fields.map(([name, leaf]) => `${JSON.stringify(name)}:${leaf}`))),
  fc.array(strings, { maxLength: 8 }).map((names) => object(names.map((name) => `${name}:${name}`))),
  fc.array(fc.oneof(leaves, deep), { maxLength: 6 }).map(list),
  counts.map((count) => list(times(count, (at) => (at % 2 === 0 ? '[]' : '{}')))),
  counts.map((count) => `[${','.repeat(count)}]`),
  counts.map((count) => `${'{"a":[],'.repeat(count)}`),
);

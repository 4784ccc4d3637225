import { refuseProtective } from '../../../libs/domain/src/fields/protective-fields.ts';
import type { LearnedSchema } from '../schema-of-value.ts';
import type { Fields, PublishedApi, PublishedOperation } from './published-api.ts';

interface Schema {
  type?: string | string[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  enum?: unknown[];
  const?: unknown;
}

/** The parts of an operation of this service that `PublishedOperation` has, with the schemas of their fields. */
export interface OwnOperation {
  request: Record<string, Schema>;
  query: Record<string, Schema>;
  response: Record<string, LearnedSchema>;
}

/** A field of another server that this service does not have, or that has another type here. */
export interface Deviation {
  operation: string;
  part: keyof PublishedOperation;
  field: string;
  /** The type there, and the types here; undefined if it is absent here. */
  theirs: string;
  ours: string | undefined;
}

/**
 * Compares what a server publishes with this service: a field of a request that would be ignored here, or is refused
 * because of its type; a field of a response that is missing, or has another type.
 */
export const compared = ({ operations }: PublishedApi, own: ReadonlyMap<string, OwnOperation>): Deviation[] =>
  Object.entries(operations).flatMap(([operation, published]) => {
    const here = own.get(operation)!;
    const deviations = (part: keyof PublishedOperation, fields: Fields = {}): Deviation[] =>
      Object.entries(fields).flatMap(([field, theirs]) => {
        const ours = typesOf(here[part][field] as Schema | undefined);
        if (ours === undefined && part === 'request' && isRefused(field, theirs)) return [];
        const fits = ours?.some((type) => isSame(part, type, theirs)) ?? false;
        return fits ? [] : [{ operation, part, field, theirs, ours: ours?.join() }];
      });
    return (['request', 'query', 'response'] as const).flatMap((part) => deviations(part, published[part]));
  });

const samples: Record<string, unknown> = {
  array: ['a'],
  boolean: true,
  integer: 1,
  object: { a: 'a' },
  'string/duration': '1h',
};

/** Whether a field that is unknown here is refused rather than ignored. */
function isRefused(field: string, type: string): boolean {
  try {
    refuseProtective(field, samples[type] ?? samples[type.replace(/\/.*/, '')] ?? 'a');
    return false;
  } catch {
    return true;
  }
}

/** The types of a schema; `any` if it does not restrict them, undefined if there is none. */
function typesOf(schema: Schema | undefined): string[] | undefined {
  if (schema === undefined) return undefined;
  const { type, anyOf, oneOf, allOf, enum: values, const: value } = schema;
  if (type !== undefined) return [type].flat();
  const several = anyOf ?? oneOf ?? allOf;
  if (several !== undefined) return several.flatMap((one) => typesOf(one) ?? []);
  const constants = values ?? (value === undefined ? [] : [value]);
  return constants.length === 0 ? ['any'] : [...new Set(constants.map((one) => typeof one))];
}

/** A duration is a text or a number of seconds in requests, as everything that is formatted. A list may be a text with commas. */
function isSame(part: keyof PublishedOperation, ours: string, theirs: string): boolean {
  const [type = '', format] = theirs.split('/');
  if (ours === 'any' || type === 'any' || ours === type || (ours === 'integer' && type === 'number'))
    return true;
  if (part === 'response') return format === 'duration' && ours === 'integer';
  return (format === 'duration' || format === 'seconds') && ['string', 'integer', 'number'].includes(ours);
}

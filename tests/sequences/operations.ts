import fc from 'fast-check';

/** An act of a client or an operator, or a failure. Secrets, destinations and templates are named by number. */
export type Operation =
  | { act: 'write'; secret: number; data: Record<string, string> }
  | { act: 'patch'; secret: number; data: Record<string, string | null> }
  | { act: 'delete' | 'undelete' | 'destroy' | 'drop'; secret: number }
  /** Writes the data again, with a key in capitals, or in small letters if it was in capitals. */
  | { act: 'respell'; secret: number; key: string }
  | { act: 'set' | 'remove'; secret: number; destination: number }
  | { act: 'reshape'; destination: number; template: number; granularity: 'secret-path' | 'secret-key' }
  | { act: 'replan'; destination: number }
  | { act: 'retry'; destination: number }
  /** The store denies permission, or has no room, for a number of calls. */
  | { act: 'refuse'; destination: number; reason: 'forbidden' | 'full'; times: number }
  | { act: 'fault'; destination: number; effect: string; times: number }
  | { act: 'wait'; ms: number };

/** One sequence: how many destinations it has, of which types, and what happens to them. */
export interface Sequence {
  /** Indices into the list of types. */
  types: number[];
  /** Whether the destinations of one type reach one place and give their external secrets the same names. */
  isOnePlace: boolean;
  operations: Operation[];
}

export const secretCount = 3;
const maxDestinations = 3;
/** The name templates between which destinations change. */
const templateCount = 4;
/** The template in which the names of all secrets are the same, so only one of them can be synced. */
export const sharedTemplate = templateCount - 1;
/** The template that writes keys in small letters: a key that is respelt keeps its external name. */
export const smallTemplate = templateCount - 2;

const keys = ['alpha', 'beta', 'gamma'];
const effects = ['throttle', 'server-error', 'reset', 'act-then-die', 'garbage'];

const secret = fc.nat({ max: secretCount - 1 });
const destination = fc.nat({ max: maxDestinations - 1 });
/** Often a value that the secret had before: whatever compares values must not take an older one for the newest. */
const value = fc.oneof(fc.constantFrom('one', 'two'), fc.string({ minLength: 1, maxLength: 12 }));
const data = fc.dictionary(fc.constantFrom(...keys), value, { minKeys: 1, maxKeys: keys.length });
const changes = fc.dictionary(fc.constantFrom(...keys), fc.option(value), { minKeys: 1, maxKeys: 2 });

const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ act: fc.constant('write' as const), secret, data }) },
  { weight: 3, arbitrary: fc.record({ act: fc.constant('patch' as const), secret, data: changes }) },
  {
    weight: 4,
    arbitrary: fc.record({ act: fc.constantFrom('delete', 'undelete', 'destroy', 'drop' as const), secret }),
  },
  { weight: 7, arbitrary: fc.record({ act: fc.constant('set' as const), secret, destination }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constant('remove' as const), secret, destination }) },
  {
    weight: 2,
    arbitrary: fc.record({
      act: fc.constant('reshape' as const),
      destination,
      template: fc.nat({ max: templateCount - 1 }),
      granularity: fc.constantFrom('secret-path', 'secret-key' as const),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ act: fc.constant('respell' as const), secret, key: fc.constantFrom(...keys) }),
  },
  { weight: 1, arbitrary: fc.record({ act: fc.constantFrom('replan', 'retry' as const), destination }) },
  {
    weight: 1,
    arbitrary: fc.record({
      act: fc.constant('refuse' as const),
      destination,
      reason: fc.constantFrom('forbidden', 'full' as const),
      times: fc.integer({ min: 1, max: 3 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      act: fc.constant('fault' as const),
      destination,
      effect: fc.constantFrom(...effects),
      times: fc.integer({ min: 1, max: 3 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ act: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 150 }) }),
  },
);

/** Sequences over this many destination types. */
export const sequences = (typeCount: number): fc.Arbitrary<Sequence> =>
  fc.record({
    types: fc.array(fc.nat({ max: typeCount - 1 }), { minLength: 1, maxLength: maxDestinations }),
    isOnePlace: fc.boolean(),
    operations: fc.array(operation, { minLength: 6, maxLength: 18 }),
  });
